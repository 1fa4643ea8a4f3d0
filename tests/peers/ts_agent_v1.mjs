// A version 1 agent on the official TypeScript SDK: the text of a prompt names the scenario it plays (README.md lists
// them). With --auth it opens no session before somebody has authenticated; --unstable takes the SDK's unstable entry.
import path from "node:path";
import { load, serve, stdio } from "./sdk.mjs";

const acp = await load(process.argv.includes("--unstable") ? "/unstable" : "");
const { methods, RequestError } = acp;

const STORED = "stored-1";
const MODES = { ask: "Ask", careful: "Careful" };
const MODELS = { fast: "Fast", deep: "Deep" };

const sessions = new Map();
let authenticated = !process.argv.includes("--auth");
let clientCapabilities = {};

class Session {
  constructor(id, cwd) {
    Object.assign(this, { id, cwd, mode: "ask", model: "fast", calls: 0 });
    this.start();
  }
  start() {
    this.isCancelled = false;
    this.cancelled = new Promise((resolve) => {
      this.cancel = () => {
        this.isCancelled = true;
        resolve();
      };
    });
  }
  nextCall() {
    return `call-${++this.calls}`;
  }
  path(name) {
    return path.join(this.cwd, name);
  }
  state() {
    const modes = Object.entries(MODES).map(([id, name]) => ({ id, name }));
    return { modes: { currentModeId: this.mode, availableModes: modes }, configOptions: this.options() };
  }
  options() {
    const options = Object.entries(MODELS).map(([value, name]) => ({ value, name }));
    return [{ id: "model", name: "Model", category: "model", type: "select", currentValue: this.model, options }];
  }
}

const find = (id) => {
  if (!sessions.has(id)) throw RequestError.resourceNotFound(id);
  return sessions.get(id);
};

const reopen = ({ sessionId, cwd }) => {
  if (!sessions.has(sessionId) && sessionId !== STORED) throw RequestError.resourceNotFound(sessionId);
  if (!sessions.has(sessionId)) sessions.set(sessionId, new Session(sessionId, cwd));
  return sessions.get(sessionId);
};

// One turn: what a scenario needs of the client, with the session filled in.
class Turn {
  constructor(client, session) {
    this.client = client;
    this.session = session;
  }
  update(sessionUpdate, fields) {
    const update = { sessionUpdate, ...fields };
    return this.client.notify(methods.client.session.update, { sessionId: this.session.id, update });
  }
  say(text) {
    return this.update("agent_message_chunk", { content: { type: "text", text } });
  }
  ask(method, params) {
    return this.client.request(method, { sessionId: this.session.id, ...params });
  }
  async trying(call, done) {
    let answer;
    try {
      answer = await call();
    } catch (error) {
      return this.say(`error ${error.code}`);
    }
    return this.say(done(answer));
  }
}

const scenarios = {
  async plan(turn) {
    const steps = [["Look", "high"], ["Write", "medium"], ["Check", "low"]];
    for (const statuses of [["in_progress", "pending", "pending"], ["completed", "in_progress", "pending"]]) {
      const entries = steps.map(([content, priority], at) => ({ content, priority, status: statuses[at] }));
      await turn.update("plan", { entries });
    }
    await turn.say("planned");
  },
  async think(turn) {
    for (const text of ["one ", "two ", "three"]) {
      await turn.update("agent_thought_chunk", { content: { type: "text", text } });
    }
    for (const text of ["four ", "five ", "six"]) await turn.say(text);
  },
  async tool(turn) {
    const toolCallId = turn.session.nextCall();
    const path = turn.session.path("notes.txt");
    await turn.update("tool_call", {
      toolCallId,
      title: "Edit the notes",
      kind: "edit",
      status: "pending",
      locations: [{ path, line: 1 }],
      rawInput: { path },
    });
    await turn.update("tool_call_update", { toolCallId, status: "in_progress" });
    const content = [{ type: "diff", path, oldText: "old\n", newText: "new\n" }];
    await turn.update("tool_call_update", { toolCallId, status: "completed", content, rawOutput: { written: 4 } });
    await turn.say("edited");
  },
  async permission(turn) {
    const toolCallId = turn.session.nextCall();
    const { outcome } = await turn.ask(methods.client.session.requestPermission, {
      toolCall: { toolCallId, title: "Delete the notes", kind: "delete", status: "pending" },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    if (outcome.outcome === "cancelled") {
      await turn.say("cancelled");
      return turn.session.isCancelled ? "cancelled" : undefined;
    }
    await turn.say(outcome.optionId === "yes" ? "allowed" : "denied");
  },
  async read(turn, name) {
    const path = turn.session.path(name);
    await turn.trying(() => turn.ask(methods.client.fs.readTextFile, { path }), (file) => file.content);
  },
  async write(turn, rest) {
    const [name, text] = cut(rest);
    const params = { path: turn.session.path(name), content: text };
    await turn.trying(() => turn.ask(methods.client.fs.writeTextFile, params), () => "written");
  },
  async terminal(turn, rest) {
    const [command, ...args] = rest.split(/\s+/);
    const toolCallId = turn.session.nextCall();
    const params = { sessionId: turn.session.id, command, args, cwd: turn.session.cwd };
    const terminal = await turn.client.createTerminal(params);
    const content = [{ type: "terminal", terminalId: terminal.id }];
    await turn.update("tool_call", {
      toolCallId, title: "Run a command", kind: "execute", status: "in_progress", content,
    });
    const { exitCode } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    await turn.update("tool_call_update", { toolCallId, status: "completed" });
    await turn.say(output);
    await turn.say(`exit ${exitCode}`);
  },
  async wait(turn) {
    await turn.say("waiting");
    await turn.session.cancelled;
    return "cancelled";
  },
  fail() {
    throw new RequestError(-32603, "the agent was asked to fail", { why: "asked" });
  },
  throw() {
    throw new Error("the credit balance is too low");
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
    await turn.update("current_mode_update", { currentModeId: turn.session.mode });
    await turn.update("config_option_update", { configOptions: turn.session.options() });
  },
  async commands(turn) {
    const availableCommands = [
      { name: "plan", description: "Make a plan", input: { hint: "what to plan" } },
      { name: "help", description: "Say what can be done" },
    ];
    await turn.update("available_commands_update", { availableCommands });
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
    await turn.trying(() => turn.client.request("_test/echo", { from: "agent" }), JSON.stringify);
  },
};

const cut = (text) => {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
};

const echo = async (turn, text) => {
  for (const chunk of text.match(/\S+\s*/g) ?? []) await turn.say(chunk);
};

const params = (value) => value;

const app = acp
  .agent({ name: "ts-agent-v1" })
  .onRequest(methods.agent.initialize, (ctx) => {
    clientCapabilities = ctx.params.clientCapabilities ?? {};
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "ts-agent-v1", version: "1.0" },
      authMethods: [{ id: "test", name: "Test login" }],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
    };
  })
  .onRequest(methods.agent.authenticate, ({ params: { methodId } }) => {
    if (methodId !== "test") throw RequestError.invalidParams({ methodId });
    authenticated = true;
    return {};
  })
  .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
    if (!authenticated) throw RequestError.authRequired();
    const session = new Session(`session-${sessions.size + 1}`, cwd);
    sessions.set(session.id, session);
    return { sessionId: session.id, ...session.state() };
  })
  .onRequest(methods.agent.session.load, async (ctx) => {
    const turn = new Turn(ctx.client, reopen(ctx.params));
    await turn.update("user_message_chunk", { content: { type: "text", text: "an earlier question" } });
    await turn.say("an earlier answer");
    return turn.session.state();
  })
  .onRequest(methods.agent.session.resume, (ctx) => reopen(ctx.params).state())
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
  .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
    const session = find(sessionId);
    if (!(modeId in MODES)) throw RequestError.invalidParams({ modeId });
    session.mode = modeId;
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params: { sessionId, configId, value } }) => {
    const session = find(sessionId);
    if (configId !== "model" || !(value in MODELS)) throw RequestError.invalidParams({ configId, value });
    session.model = value;
    return { configOptions: session.options() };
  })
  .onRequest(methods.agent.session.prompt, async (ctx) => {
    const session = find(ctx.params.sessionId);
    session.start();
    const text = ctx.params.prompt.filter((block) => block.type === "text").map((block) => block.text).join("");
    const [name, rest] = cut(text);
    const turn = new Turn(ctx.client, session);
    const play = Object.hasOwn(scenarios, name) ? scenarios[name](turn, rest) : echo(turn, text);
    return { stopReason: (await play) ?? "end_turn" };
  })
  .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel())
  .onRequest("_test/echo", params, (ctx) => ctx.params)
  .onNotification("_test/note", params, (ctx) => ctx.client.notify("_test/noted", ctx.params));

if (process.argv.includes("--serve")) await serve(app);
else app.connect(stdio(acp));
