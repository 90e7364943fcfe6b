import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

// Which kind of package may import which: docs/architecture.md, "Dependency rules".
const may = (sourceTag, ...onlyDependOnLibsWithTags) => ({ sourceTag, onlyDependOnLibsWithTags });

export default tseslint.config(
  { ignores: ['**/dist', '**/coverage', '**/node_modules', '.nx', 'data', '**/*.cjs'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          depConstraints: [
            may('type:kernel'),
            may('type:wire', 'type:kernel'),
            may('type:client', 'type:kernel', 'type:wire'),
            may('type:contract', 'type:kernel', 'type:wire'),
            may('type:flow', 'type:kernel', 'type:wire', 'type:contract'),
            // Tests of drivers and adapters start real servers; tools/tidy keeps that to spec files.
            may('type:driver', 'type:kernel', 'type:servers'),
            may('type:adapter', 'type:kernel', 'type:wire', 'type:contract', 'type:driver', 'type:servers'),
            may('type:servers'),
            may('type:kit', 'type:kernel'),
            may(
              'type:app',
              'type:kernel',
              'type:wire',
              'type:contract',
              'type:flow',
              'type:adapter',
              'type:kit',
              'type:client',
            ),
            may(
              'type:tool',
              'type:kernel',
              'type:wire',
              'type:contract',
              'type:flow',
              'type:adapter',
              'type:kit',
              'type:client',
              'type:servers',
              'type:tool',
            ),
          ],
        },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'off',
    },
  },
);
