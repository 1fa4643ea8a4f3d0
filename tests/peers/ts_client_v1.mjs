// A version 1 client on the official TypeScript SDK: starts an agent, plays a script, prints what it saw, one JSON
// object a line.
//
//     ts_client_v1.mjs SCRIPT COMMAND [ARGUMENT…]
//     ts_client_v1.mjs SCRIPT URL
//
// SCRIPT is JSON, or "-" to read it from standard input; README.md describes it and the lines printed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { load, pipes, remote } from "./sdk.mjs";

const acp = await load();
const { methods, RequestError } = acp;

const [given, command, ...args] = process.argv.slice(2);
const script = JSON.parse(given === "-" ? readFileSync(0, "utf8") : given);
const cwd = script.cwd ?? process.cwd();

const saw = (what, fields) => process.stdout.write(JSON.stringify({ saw: what, ...fields }) + "\n");

let step = {};
let session = "";
let cancelAt = null;
const terminals = new Map();
const noted = new Map();

const note = (method) => {
  if (!noted.has(method)) {
    let resolve;
    noted.set(method, { promise: new Promise((done) => (resolve = done)), resolve });
  }
  return noted.get(method);
};

const status = (child) => (child.signalCode ? { signal: child.signalCode } : { exitCode: child.exitCode });

const startTerminal = ({ command, args = [], env = [], cwd }) => {
  const id = `terminal-${terminals.size + 1}`;
  const extra = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const child = spawn(command, args, { cwd, env: { ...process.env, ...extra }, stdio: ["ignore", "pipe", "pipe"] });
  const terminal = { child, output: "", closed: once(child, "close") };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (terminal.output += data));
  terminals.set(id, terminal);
  return once(child, "spawn").then(() => id);
};

const endTerminal = async ({ child, closed }) => {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  await closed;
};

const failing = (call, error) => {
  try {
    return call();
  } catch (cause) {
    throw error(cause);
  }
};

const params = (value) => value;

const app = acp
  .client({ name: "ts-client-v1" })
  .onNotification(methods.client.session.update, async (ctx) => {
    const { sessionId, update } = ctx.params;
    saw("update", { session: sessionId, update });
    if (cancelAt && [update.sessionUpdate, update.status].includes(cancelAt)) {
      cancelAt = null;
      await ctx.agent.notify(methods.agent.session.cancel, { sessionId });
    }
  })
  .onRequest(methods.client.session.requestPermission, async (ctx) => {
    const { sessionId, toolCall, options } = ctx.params;
    saw("permission", { session: sessionId, toolCall, options });
    const wanted = step.permission ?? "reject_once";
    if (wanted === "cancel") await ctx.agent.notify(methods.agent.session.cancel, { sessionId });
    const option = options.find(({ kind }) => kind === wanted);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  })
  .onRequest(methods.client.fs.readTextFile, ({ params: { path, line, limit } }) => {
    saw("request", { method: methods.client.fs.readTextFile, path });
    const text = failing(() => readFileSync(path, "utf8"), () => RequestError.resourceNotFound(path));
    const start = (line ?? 1) - 1;
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return { content: lines.slice(start, limit ? start + limit : undefined).join("") };
  })
  .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
    saw("request", { method: methods.client.fs.writeTextFile, path });
    failing(() => writeFileSync(path, content), (cause) => RequestError.internalError({ details: cause.message }));
    return {};
  })
  .onRequest(methods.client.terminal.create, async (ctx) => {
    saw("request", { method: methods.client.terminal.create, command: ctx.params.command, args: ctx.params.args ?? [] });
    return { terminalId: await startTerminal(ctx.params) };
  })
  .onRequest(methods.client.terminal.output, ({ params: { terminalId } }) => {
    saw("request", { method: methods.client.terminal.output });
    const { child, output } = terminals.get(terminalId);
    const ended = child.exitCode !== null || child.signalCode !== null;
    return { output, truncated: false, ...(ended && { exitStatus: status(child) }) };
  })
  .onRequest(methods.client.terminal.waitForExit, async ({ params: { terminalId } }) => {
    saw("request", { method: methods.client.terminal.waitForExit });
    const { child, closed } = terminals.get(terminalId);
    await closed;
    return status(child);
  })
  .onRequest(methods.client.terminal.kill, async ({ params: { terminalId } }) => {
    saw("request", { method: methods.client.terminal.kill });
    await endTerminal(terminals.get(terminalId));
    return {};
  })
  .onRequest(methods.client.terminal.release, async ({ params: { terminalId } }) => {
    saw("request", { method: methods.client.terminal.release });
    await endTerminal(terminals.get(terminalId));
    return {};
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

// Each kind of step; what it returns is shown in an "answer" line.
const steps = {
  async initialize(agent, { version = acp.PROTOCOL_VERSION }) {
    const result = await call(agent, methods.agent.initialize, {
      protocolVersion: version,
      clientInfo: { name: "ts-client-v1", version: "1.0" },
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        elicitation: { form: {} },
      },
    });
    saw("initialize", { result });
  },
  authenticate: (agent, { method = "test" }) => call(agent, methods.agent.authenticate, { methodId: method }),
  async new(agent) {
    const result = await call(agent, methods.agent.session.new, { cwd, mcpServers: [] });
    opened(result.sessionId, result);
  },
  async load(agent, { session: sessionId }) {
    opened(sessionId, await call(agent, methods.agent.session.load, { sessionId, cwd, mcpServers: [] }));
  },
  async resume(agent, { session: sessionId }) {
    opened(sessionId, await call(agent, methods.agent.session.resume, { sessionId, cwd, mcpServers: [] }));
  },
  list: (agent) => call(agent, methods.agent.session.list, { cwd }),
  close: (agent) => call(agent, methods.agent.session.close, { sessionId: session }),
  mode: (agent, { mode }) => call(agent, methods.agent.session.setMode, { sessionId: session, modeId: mode }),
  option: (agent, { option, value }) =>
    call(agent, methods.agent.session.setConfigOption, { sessionId: session, configId: option, value }),
  async prompt(agent, { text, cancel = false, session: sessionId = session }) {
    cancelAt = cancel === true ? "agent_message_chunk" : cancel || null;
    const prompt = [{ type: "text", text }];
    const { stopReason } = await call(agent, methods.agent.session.prompt, { sessionId, prompt });
    saw("stop", { session: sessionId, reason: stopReason });
  },
  together: (agent, { texts }) =>
    Promise.all(
      texts.map(async (text) => {
        const { sessionId } = await call(agent, methods.agent.session.new, { cwd, mcpServers: [] });
        const prompt = [{ type: "text", text }];
        const { stopReason } = await call(agent, methods.agent.session.prompt, { sessionId, prompt });
        saw("stop", { session: sessionId, reason: stopReason });
      }),
    ).then(() => undefined),
  request: (agent, { method, params = {} }) => call(agent, method, params),
  async notify(agent, { method, params = {}, until }) {
    await agent.notify(method, params);
    if (until) await note(until).promise;
  },
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
