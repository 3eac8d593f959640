// The words of docs/performance.md around the figures.
export const prose = {
  method: `How fast the service delivers, publishes and answers, measured beside what the machine can do at all and beside what a team would
otherwise pick. \`npm run bench\` repeats it: it starts PostgreSQL, Redis, a TLS receiver and every contender as processes of their own on
loopback, measures each in turn, round after round, and reports medians. \`npm run bench -- --quick\` takes a few minutes.

What holds on a shared machine are **ratios from one run** and **work per CPU-second** of a process; bare rates do not travel.

- Every contender signs with ES256, posts about 1 KiB over keep-alive TLS with undici's \`dispatch\`, and writes a record of the attempt.
- PostgreSQL runs with \`fsync\` and \`synchronous_commit\` on. BullMQ is measured with \`appendfsync always\` (an acknowledged job survives a
  power cut, as with PostgreSQL) and \`everysec\` (the last second may be lost).
- Rivals are set up as their docs advise for throughput: pg-boss with batches of 200, four workers and burst mode; graphile-worker with a
  local queue, batched completion and 500 jobs at once; BullMQ with 500 at once. Ours also chooses fairly between partners, adapts to
  each endpoint and keeps a breaker for it, which none of the rivals does.
- Ceiling (a) is one Node process that signs and posts without any queue; ceiling (b) is PostgreSQL fed with batched SQL and nothing
  else; ceiling (c) is a bare \`node:http\` server that answers with a ready buffer.
- Latency is counted from the call that publishes to the arrival at the receiver, for every id; what is missing or came twice is counted.`,
  targets: '',
  rest: '',
}
