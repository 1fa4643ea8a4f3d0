// A version 2 client on the official TypeScript SDK: starts an agent, plays a script, prints what it saw, one JSON
// object a line.
//
//     ts_client_v2.mjs SCRIPT COMMAND [ARGUMENT…]
//     ts_client_v2.mjs SCRIPT URL
//
// SCRIPT is JSON, or "-" to read it from standard input; README.md describes it and the lines printed. The script is
// that of version 1: "load" resumes with replay, "mode" sets the option of that name, and a prompt is over when it has
// been answered and the session has gone idle.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { load, pipes, remote } from "./sdk.mjs";

const acp = await load("/experimental/v2");
const { methods } = acp;

const [given, command, ...args] = process.argv.slice(2);
const script = JSON.parse(given === "-" ? readFileSync(0, "utf8") : given);
const cwd = script.cwd ?? process.cwd();

const saw = (what, fields) => process.stdout.write(JSON.stringify({ saw: what, ...fields }) + "\n");

let step = {};
let session = "";
let cancelAt = null;
let whenIdle = () => {};
const noted = new Map();

const note = (method) => {
  if (!noted.has(method)) {
    let resolve;
    noted.set(method, { promise: new Promise((done) => (resolve = done)), resolve });
  }
  return noted.get(method);
};

const params = (value) => value;

const app = acp
  .client({ name: "ts-client-v2" })
  .onNotification(methods.client.session.update, async (ctx) => {
    const { sessionId, update } = ctx.params;
    saw("update", { session: sessionId, update });
    if (update.sessionUpdate === "state_update" && update.state === "idle") whenIdle(sessionId, update);
    if (cancelAt && [update.sessionUpdate, update.status].includes(cancelAt)) {
      cancelAt = null;
      await ctx.agent.notify(methods.agent.session.cancel, { sessionId });
    }
  })
  .onRequest(methods.client.session.requestPermission, async (ctx) => {
    const { sessionId, title, subject, options } = ctx.params;
    saw("permission", { session: sessionId, title, subject, options });
    const wanted = step.permission ?? "reject_once";
    if (wanted === "cancel") await ctx.agent.notify(methods.agent.session.cancel, { sessionId });
    const option = options.find(({ kind }) => kind === wanted);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  })
  .onRequest(methods.client.elicitation.create, ({ params: { message, requestedSchema } }) => {
    saw("elicitation", { message, schema: requestedSchema });
    return step.elicitation ? { action: "accept", content: step.elicitation } : { action: "decline" };
  })
  .onRequest("_test/echo", params, (ctx) => {
    saw("request", { method: "_test/echo", params: ctx.params });
    return ctx.params;
  })
  .onNotification("*", (ctx) => {
    saw("notification", { method: ctx.method, params: ctx.params });
    note(ctx.method).resolve();
  });

// The SDK may hand over an answer before the updates that came ahead of it; one turn of the loop puts them first.
const call = async (agent, method, params) => {
  try {
    return await agent.request(method, params);
  } finally {
    await new Promise(setImmediate);
  }
};

const opened = (id, result) => {
  session = id;
  saw("session", { id, result });
};

const setOption = (agent, configId, value) => {
  const type = typeof value === "boolean" ? "boolean" : "id";
  return call(agent, methods.agent.session.setConfigOption, { sessionId: session, configId, type, value });
};

// Each kind of step; what it returns is shown in an "answer" line.
const steps = {
  async initialize(agent, { version = acp.PROTOCOL_VERSION }) {
    const result = await call(agent, methods.agent.initialize, {
      protocolVersion: version,
      info: { name: "ts-client-v2", version: "1.0" },
      capabilities: { elicitation: { form: {} } },
    });
    saw("initialize", { result });
  },
  authenticate: (agent, { method = "test" }) => call(agent, methods.agent.auth.login, { methodId: method }),
  logout: (agent) => call(agent, methods.agent.auth.logout, {}),
  async new(agent) {
    const result = await call(agent, methods.agent.session.new, { cwd });
    opened(result.sessionId, result);
  },
  async load(agent, { session: sessionId }) {
    const replayFrom = { type: "start" };
    opened(sessionId, await call(agent, methods.agent.session.resume, { sessionId, cwd, replayFrom }));
  },
  async resume(agent, { session: sessionId }) {
    opened(sessionId, await call(agent, methods.agent.session.resume, { sessionId, cwd }));
  },
  list: (agent) => call(agent, methods.agent.session.list, { cwd }),
  close: (agent) => call(agent, methods.agent.session.close, { sessionId: session }),
  mode: (agent, { mode }) => setOption(agent, "mode", mode),
  option: (agent, { option, value }) => setOption(agent, option, value),
  async prompt(agent, { text, cancel = false, session: sessionId = session }) {
    cancelAt = cancel === true ? "agent_message_chunk" : cancel || null;
    const idle = new Promise((resolve) => {
      whenIdle = (id, update) => id === sessionId && resolve(update);
    });
    const prompt = [{ type: "text", text }];
    const { messageId } = await call(agent, methods.agent.session.prompt, { sessionId, prompt });
    saw("prompted", { session: sessionId, message: messageId });
    const { stopReason, error } = await Promise.race([idle, connection.closed.then(gone)]);
    saw("stop", { session: sessionId, reason: stopReason ?? null, ...(error && { error }) });
  },
  async together(agent, { texts }) {
    const idle = new Map();
    whenIdle = (id, update) => idle.get(id)?.(update);
    const one = async (text) => {
      const { sessionId } = await call(agent, methods.agent.session.new, { cwd, mcpServers: [] });
      const ended = new Promise((resolve) => idle.set(sessionId, resolve));
      await call(agent, methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
      saw("stop", { session: sessionId, reason: (await ended).stopReason ?? null });
    };
    await Promise.all(texts.map(one));
  },
  request: (agent, { method, params = {} }) => call(agent, method, params),
  async notify(agent, { method, params = {}, until }) {
    await agent.notify(method, params);
    if (until) await note(until).promise;
  },
};

const gone = () => {
  throw new Error("the connection was closed before the session went idle");
};

const isRemote = command.includes("://");
const child = isRemote ? null : spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = child && once(child, "exit");
const connection = app.connect(isRemote ? await remote(command, script.token) : pipes(acp, child));
for (step of [{ do: "initialize" }, ...script.steps]) {
  saw("step", { step });
  try {
    const result = await steps[step.do](connection.agent, step);
    if (result !== undefined) saw("answer", { step: step.do, result });
  } catch ({ code = null, message, data = null }) {
    saw("error", { step: step.do, code, message, data });
  }
}
saw("step", { step: { do: "exit" } });
connection.close();
if (isRemote) {
  saw("exit", { status: 0 });
  await new Promise((resolve) => process.stdout.write("", resolve)); // a pipe loses what isn't written yet
  process.exit(0);
}
child.stdin.end();
const patience = setTimeout(() => child.kill(), 2000);
await ended;
clearTimeout(patience);
saw("exit", { status: child.exitCode });
