export { OpenApiCheck } from './openapi-check.ts';
