// A version 2 agent on the official TypeScript SDK: the text of a prompt names the scenario it plays (README.md lists
// them). With --auth it opens no session before somebody has logged in; --unstable takes the SDK's unstable entry.
//
// Here a prompt is answered as soon as it stands in the conversation; the work goes on and ends with an idle state.
import { spawn } from "node:child_process";
import path from "node:path";
import { load, serve, stdio } from "./sdk.mjs";

const acp = await load(process.argv.includes("--unstable") ? "/experimental/v2/unstable" : "/experimental/v2");
const { methods, RequestError } = acp;

const STORED = "stored-1";
const MODES = { ask: "Ask", careful: "Careful" };
const MODELS = { fast: "Fast", deep: "Deep" };
const COMMANDS = [
  { type: "command", name: "plan", description: "Make a plan", input: { type: "text", hint: "what to plan" } },
  { type: "command", name: "help", description: "Say what can be done" },
];

const sessions = new Map();
let authenticated = !process.argv.includes("--auth");
let clientCapabilities = {};

class Session {
  constructor(id, cwd) {
    Object.assign(this, { id, cwd, mode: "ask", model: "fast", calls: 0, messages: 0, terminals: 0, cancels: 0 });
    this.working = null; // while a turn runs: the promise that it ends
    this.abort = new AbortController();
  }
  nextCall() {
    return `call-${++this.calls}`;
  }
  nextMessage() {
    return `message-${++this.messages}`;
  }
  cancel() {
    this.cancels++;
    this.abort.abort();
  }
  path(name) {
    return path.join(this.cwd, name);
  }
  options() {
    const select = (configId, name, currentValue, values) => ({
      configId, name, category: configId, type: "select", currentValue,
      options: Object.entries(values).map(([value, name]) => ({ value, name })),
    });
    return [select("mode", "Mode", this.mode, MODES), select("model", "Model", this.model, MODELS)];
  }
}

const notFound = (sessionId) => new RequestError(-32002, "Session not found", { sessionId });

const find = (id) => {
  if (!sessions.has(id)) throw notFound(id);
  return sessions.get(id);
};

// The work after one prompt: what a scenario needs of the client, with the session and the message filled in.
class Turn {
  constructor(client, session) {
    Object.assign(this, { client, session, signal: session.abort.signal });
    this.messageId = session.nextMessage();
    this.thoughtId = session.nextMessage();
  }
  update(sessionUpdate, fields) {
    const update = { sessionUpdate, ...fields };
    return this.client.notify(methods.client.session.update, { sessionId: this.session.id, update });
  }
  state(state, fields) {
    return this.update("state_update", { state, ...fields });
  }
  say(text) {
    return this.update("agent_message_chunk", { messageId: this.messageId, content: { type: "text", text } });
  }
  // Asks the person; while they are asked the session says so, and cancelling the session takes the question back.
  async ask(method, params) {
    await this.state("requires_action");
    const options = { cancellationSignal: this.signal, stopWaitingOnCancel: true };
    const answer = await this.client.request(method, { sessionId: this.session.id, ...params }, options);
    await this.state("running");
    return answer;
  }
}

const scenarios = {
  async plan(turn) {
    const steps = [["Look", "high"], ["Write", "medium"], ["Check", "low"]];
    for (const statuses of [["in_progress", "pending", "pending"], ["completed", "in_progress", "pending"]]) {
      const entries = steps.map(([content, priority], at) => ({ content, priority, status: statuses[at] }));
      await turn.update("plan_update", { plan: { type: "items", planId: "plan-1", entries } });
    }
    await turn.say("planned");
  },
  async think(turn) {
    for (const text of ["one ", "two ", "three"]) {
      const content = { type: "text", text };
      await turn.update("agent_thought_chunk", { messageId: turn.thoughtId, content });
    }
    for (const text of ["four ", "five ", "six"]) await turn.say(text);
  },
  async tool(turn) {
    const toolCallId = turn.session.nextCall();
    const path = turn.session.path("notes.txt");
    await turn.update("tool_call_update", {
      toolCallId,
      title: "Edit the notes",
      kind: "edit",
      status: "pending",
      locations: [{ path, line: 1 }],
      rawInput: { path },
    });
    await turn.update("tool_call_update", { toolCallId, status: "in_progress" });
    const text = `diff --git ${path} ${path}\n--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-old\n+new\n`;
    const changes = [{ operation: "modify", path, fileType: "text" }];
    const content = [{ type: "diff", changes, patch: { format: "git_patch", text } }];
    await turn.update("tool_call_update", { toolCallId, status: "completed", content, rawOutput: { written: 4 } });
    await turn.say("edited");
  },
  async permission(turn) {
    const toolCall = { toolCallId: turn.session.nextCall(), title: "Delete the notes", kind: "delete", status: "pending" };
    const { outcome } = await turn.ask(methods.client.session.requestPermission, {
      title: "Delete the notes",
      subject: { type: "tool_call", toolCall },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    if (outcome.outcome === "cancelled") {
      await turn.say("cancelled");
      return turn.signal.aborted ? "cancelled" : undefined;
    }
    await turn.say(outcome.optionId === "yes" ? "allowed" : "denied");
  },
  // Version 2 shows a terminal and leaves running it to the agent.
  async terminal(turn, rest) {
    const [command, ...args] = rest.split(/\s+/);
    const toolCallId = turn.session.nextCall();
    const terminalId = `terminal-${++turn.session.terminals}`;
    await turn.update("terminal_update", { terminalId, command: rest, cwd: turn.session.cwd });
    await turn.update("tool_call_update", {
      toolCallId,
      title: "Run a command",
      kind: "execute",
      status: "in_progress",
      content: [{ type: "terminal", terminalId }],
    });
    const child = spawn(command, args, { cwd: turn.session.cwd, stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", resolve).once("error", () => resolve(127)));
    const parts = [];
    for await (const data of child.stdout) {
      parts.push(data);
      await turn.update("terminal_output_chunk", { terminalId, data: data.toString("base64") });
    }
    const exitCode = await ended;
    await turn.update("terminal_update", { terminalId, exitStatus: { exitCode } });
    await turn.update("tool_call_update", { toolCallId, status: "completed" });
    await turn.say(Buffer.concat(parts).toString());
    await turn.say(`exit ${exitCode}`);
  },
  async wait(turn) {
    await turn.say("waiting");
    if (!turn.signal.aborted) await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    return "cancelled";
  },
  fail() {
    throw new RequestError(-32603, "the agent was asked to fail", { why: "asked" });
  },
  die() {
    process.stderr.write("last words\n", () => process.exit(3));
    return new Promise(() => {});
  },
  refuse: () => "refusal",
  async usage(turn) {
    await turn.update("usage_update", { used: 1200, size: 200000, cost: { amount: 0.25, currency: "USD" } });
  },
  async mode(turn) {
    Object.assign(turn.session, { mode: "careful", model: "deep" });
    await turn.update("config_option_update", { configOptions: turn.session.options() });
  },
  async commands(turn) {
    await turn.update("available_commands_update", { availableCommands: COMMANDS });
  },
  async title(turn, title) {
    await turn.update("session_info_update", { title });
  },
  async big(turn, size) {
    await turn.say("x".repeat(Number(size)));
  },
  async elicit(turn) {
    if (!clientCapabilities.elicitation?.form) return void (await turn.say("no elicitation"));
    const answer = await turn.ask(methods.client.elicitation.create, {
      mode: "form",
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string", title: "Your name" } },
        required: ["name"],
      },
    });
    await turn.say(answer.action === "accept" ? `hello ${answer.content.name}` : answer.action);
  },
  async extension(turn) {
    let text;
    try {
      text = JSON.stringify(await turn.client.request("_test/echo", { from: "agent" }));
    } catch (error) {
      text = `error ${error.code}`;
    }
    await turn.say(text);
  },
};

const cut = (text) => {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
};

const echo = async (turn, text) => {
  for (const chunk of text.match(/\S+\s*/g) ?? []) await turn.say(chunk);
};

// From running to idle, whatever happens between; an abort is a cancellation and never an error.
const work = async (turn, text) => {
  const [name, rest] = cut(text);
  await turn.state("running");
  let end;
  try {
    const play = Object.hasOwn(scenarios, name) ? scenarios[name](turn, rest) : echo(turn, text);
    end = { stopReason: (await play) ?? "end_turn" };
  } catch (error) {
    if (turn.signal.aborted) end = { stopReason: "cancelled" };
    else end = { stopReason: "error", error: { code: error.code ?? -32603, message: error.message, data: error.data } };
  }
  turn.session.working = null;
  await turn.state("idle", end);
};

const params = (value) => value;

let connection;

const app = acp
  .agent({ name: "ts-agent-v2" })
  .onRequest(methods.agent.initialize, (ctx) => {
    clientCapabilities = ctx.params.capabilities ?? {};
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      info: { name: "ts-agent-v2", version: "1.0" },
      authMethods: [{ type: "agent", methodId: "test", name: "Test login" }],
      capabilities: { session: { prompt: { image: {}, embeddedContext: {} } }, auth: {} },
    };
  })
  .onRequest(methods.agent.auth.login, ({ params: { methodId } }) => {
    if (methodId !== "test") throw RequestError.invalidParams({ methodId });
    authenticated = true;
    return {};
  })
  .onRequest(methods.agent.auth.logout, () => {
    authenticated = false;
    return {};
  })
  .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
    if (!authenticated) throw RequestError.authRequired();
    const session = new Session(`session-${sessions.size + 1}`, cwd);
    sessions.set(session.id, session);
    return { sessionId: session.id, configOptions: session.options(), availableCommands: COMMANDS };
  })
  .onRequest(methods.agent.session.resume, async (ctx) => {
    const { sessionId, cwd, replayFrom } = ctx.params;
    if (!sessions.has(sessionId) && sessionId !== STORED) throw notFound(sessionId);
    if (replayFrom && replayFrom.type !== "start") throw RequestError.invalidParams({ replayFrom });
    if (!sessions.has(sessionId)) sessions.set(sessionId, new Session(sessionId, cwd));
    const session = sessions.get(sessionId);
    const turn = new Turn(ctx.client, session);
    if (replayFrom) {
      const content = (text) => [{ type: "text", text }];
      await turn.update("user_message", { messageId: "stored-question", content: content("an earlier question") });
      await turn.update("agent_message", { messageId: "stored-answer", content: content("an earlier answer") });
    }
    await turn.state(session.working ? "running" : "idle");
    return { configOptions: session.options(), availableCommands: COMMANDS };
  })
  .onRequest(methods.agent.session.list, ({ params: { cwd } }) => {
    const stored = { sessionId: STORED, cwd: cwd ?? process.cwd(), title: "An earlier talk" };
    const live = [...sessions.values()].filter((session) => session.id !== STORED);
    return { sessions: [stored, ...live.map((session) => ({ sessionId: session.id, cwd: session.cwd }))] };
  })
  .onRequest(methods.agent.session.close, ({ params: { sessionId } }) => {
    find(sessionId).cancel();
    sessions.delete(sessionId);
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params: { sessionId, configId, value } }) => {
    const session = find(sessionId);
    const values = { mode: MODES, model: MODELS }[configId];
    if (!values || !(value in values)) throw RequestError.invalidParams({ configId, value });
    session[configId] = value;
    return { configOptions: session.options() };
  })
  .onRequest(methods.agent.session.prompt, async (ctx) => {
    const session = find(ctx.params.sessionId);
    const cancels = session.cancels;
    while (session.working) await session.working; // held until the work before it has ended
    if (session.cancels !== cancels) throw new RequestError(-32800, "Request cancelled");
    let ended;
    session.working = new Promise((resolve) => (ended = resolve));
    session.abort = new AbortController();
    const messageId = session.nextMessage();
    const turn = new Turn(connection.client, session);
    await turn.update("user_message", { messageId, content: ctx.params.prompt });
    const text = ctx.params.prompt.filter((block) => block.type === "text").map((block) => block.text).join("");
    setImmediate(() => work(turn, text).finally(ended));
    return { messageId };
  })
  .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel())
  .onRequest("_test/echo", params, (ctx) => ctx.params)
  .onNotification("_test/note", params, (ctx) => ctx.client.notify("_test/noted", ctx.params));

// Work goes on after a prompt is answered, so it can't use the context of that request.
const connect = (stream, options) => (connection = app.connect(stream, options));
if (process.argv.includes("--serve")) await serve({ connect });
else connect(stdio(acp));
