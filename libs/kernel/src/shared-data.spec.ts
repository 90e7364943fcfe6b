import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sharedData } from './shared-data.ts';

const before = { ...process.env };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-data-'));
  process.env.TIDEMARK_SHARED_DATA = folder;
  delete process.env.TIDEMARK_REQUIRE_DATA;
});

afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

test('shared data that is there is named by its absolute path', () => {
  writeFileSync(path.join(folder, 'x.json'), '{}');
  expect(sharedData('x.json')).toBe(path.join(folder, 'x.json'));
});

test('absent shared data is null after a loud line, and a failure where it is required', () => {
  const said: string[] = [];
  const loud = jest.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  expect(sharedData('absent.json')).toBeNull();
  loud.mockRestore();
  expect(said.join('')).toContain('SKIPPED: shared test data is absent: absent.json');
  process.env.TIDEMARK_REQUIRE_DATA = '1';
  expect(() => sharedData('absent.json')).toThrow('absent.json');
});
