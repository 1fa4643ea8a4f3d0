// The official TypeScript SDK as a client. Run with --expose-gc, so that memory can be measured without garbage.
import { spawn } from "node:child_process";
import { load, pipes } from "../../tests/peers/sdk.mjs";
import * as workload from "./workload.mjs";

const acp = await load();
const { methods } = acp;
const [name, counted, command, ...args] = process.argv.slice(2);
const COUNT = Number(counted);

let updates = 0;
let letters = 0;
let kept = null;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const timed = async (work) => {
  const [wall, used] = [performance.now(), cpu()];
  await work();
  return { wall: (performance.now() - wall) / 1e3, cpu: cpu() - used };
};

const settledRss = () => {
  globalThis.gc();
  return process.memoryUsage.rss();
};

const app = acp
  .client({ name: "bench" })
  .onNotification(methods.client.session.update, async ({ params }) => {
    const { update } = params;
    updates++;
    if (kept) kept.push(params);
    else if (update.sessionUpdate === "agent_message_chunk") letters += update.content.text.length;
  })
  .onRequest(methods.client.session.requestPermission, async ({ params: { options } }) => {
    const { optionId } = options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, async () => ({ content: workload.READ }));

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const connection = app.connect(pipes(acp, child));
const agent = connection.agent;
let session;

const newSession = async () =>
  (await agent.request(methods.agent.session.new, { cwd: "/project", mcpServers: [] })).sessionId;
const prompt = (text, sessionId = session) =>
  agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
const ping = () => agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "code" });

// The SDK may hand over an answer before the updates that came ahead of it: wait until they have all been seen.
const turn = async (text, expected, times = 1, warmUp = [`stream ${workload.WARM_UP}`]) => {
  for (const text of warmUp) await prompt(text);
  await new Promise(setImmediate);
  updates = letters = 0;
  const measured = await timed(async () => {
    for (let time = 0; time < times; time++) await prompt(text);
    while (updates < expected) await new Promise(setImmediate);
  });
  return { ...measured, updates, letters };
};

const pipelined = (count) => {
  const worker = async () => {
    for (let time = 0; time < Math.floor(count / workload.IN_FLIGHT); time++) await ping();
  };
  return Promise.all(Array.from({ length: workload.IN_FLIGHT }, worker));
};

const workloads = {
  W1: () => turn(`stream ${COUNT}`, COUNT),
  W1t: () => turn(`tokens ${COUNT}`, COUNT),
  async W2() {
    for (let time = 0; time < workload.WARM_UP; time++) await ping();
    const times = [];
    const measured = await timed(async () => {
      for (let time = 0; time < COUNT; time++) {
        const start = performance.now();
        await ping();
        times.push(performance.now() - start);
      }
    });
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(times.length * share)] * 1e3;
    return { ...measured, p50: at(0.5), p99: at(0.99) };
  },
  async W3() {
    await pipelined(workload.WARM_UP);
    return timed(() => pipelined(COUNT));
  },
  W4: () => turn("mixed", COUNT * 901, COUNT, ["mixed", "mixed"]),
  async W5() {
    const text = workload.blob(COUNT);
    const there = await timed(() => prompt(text));
    const back = await timed(async () => {
      await prompt(`blob ${COUNT}`);
      while (!updates) await new Promise(setImmediate);
    });
    return { prompt: there.wall, update: back.wall, letters };
  },
  W6: () => ({}),
  async W7() {
    const rss = process.memoryUsage.rss();
    await prompt(`stream ${workload.WARM_UP}`);
    await new Promise(setImmediate);
    kept = [];
    const before = settledRss();
    await prompt(`stream ${COUNT}`);
    while (kept.length < COUNT) await new Promise(setImmediate);
    return { rss, kept: (settledRss() - before) / kept.length };
  },
  async W8() {
    const sessions = [];
    for (let number = 0; number < COUNT; number++) sessions.push(await newSession());
    await prompt(`stream ${workload.WARM_UP}`);
    await new Promise(setImmediate);
    const text = `stream ${workload.UPDATES_PER_SESSION}`;
    updates = letters = 0;
    const measured = await timed(async () => {
      await Promise.all(sessions.map((id) => prompt(text, id)));
      while (updates < COUNT * workload.UPDATES_PER_SESSION) await new Promise(setImmediate);
    });
    return { ...measured, updates, letters };
  },
};

await agent.request(methods.agent.initialize, {
  protocolVersion: 1,
  clientInfo: { name: "bench", version: "1.0" },
  clientCapabilities: { fs: { readTextFile: true } },
});
if (name !== "W6") session = await newSession();
process.stdout.write(JSON.stringify(await workloads[name]()) + "\n");
connection.close();
child.stdin.end();
