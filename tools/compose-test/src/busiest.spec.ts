import { sumOf } from './busiest.ts';

const text = `# HELP work_total What was done.
# TYPE work_total counter
work_total{of="a b"} 3
work_total{of="c"} 4.5
work_total_more 100
idle 7
`;

// kills: busiest.ts: line.startsWith(`${metric} `) || => false ||
test.each([
  ['work_total', 7.5],
  ['idle', 7],
  ['unknown', 0],
])('the sum of %s over its labels is %d', (metric, sum) => {
  expect(sumOf(metric, text)).toBe(sum);
});
