// The official TypeScript SDK as an agent.
import { load, stdio } from "../../tests/peers/sdk.mjs";
import * as workload from "./workload.mjs";

const acp = await load();
const { methods } = acp;
let sessions = 0;

const update = (client, sessionId, sessionUpdate, fields) =>
  client.notify(methods.client.session.update, { sessionId, update: { sessionUpdate, ...fields } });

const text = (client, id, kind, text) => update(client, id, kind, { content: { type: "text", text } });

const mixed = {
  plan: (client, id) => {
    const entries = workload.PLAN.map((content) => ({ content, priority: "medium", status: "pending" }));
    return update(client, id, "plan", { entries });
  },
  thought: (client, id, value) => text(client, id, "agent_thought_chunk", value),
  chunk: (client, id, value) => text(client, id, "agent_message_chunk", value),
  async tool(client, id, number) {
    const toolCallId = `call-${number}`;
    const path = workload.path(number);
    const content = [{ type: "diff", path, oldText: workload.OLD, newText: workload.NEW }];
    await update(client, id, "tool_call", {
      toolCallId,
      title: `Edit file ${number}`,
      kind: "edit",
      status: "pending",
      locations: [{ path, line: 1 }],
    });
    await update(client, id, "tool_call_update", { toolCallId, status: "in_progress" });
    await update(client, id, "tool_call_update", { toolCallId, content });
    await update(client, id, "tool_call_update", { toolCallId, status: "completed" });
  },
  async permission(client, id, number) {
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: id,
      toolCall: { toolCallId: `call-${number}`, title: `Edit file ${number}` },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    if (outcome.optionId !== "yes") throw new Error("not allowed");
  },
  async read(client, id, number) {
    const params = { sessionId: id, path: workload.path(number) };
    const { content } = await client.request(methods.client.fs.readTextFile, params);
    if (content.length !== workload.READ.length) throw new Error("the file came short");
  },
};

acp
  .agent({ name: "ts-sdk" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: "ts-sdk", version: "1.0" },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: workload.session(++sessions) }))
  .onRequest(methods.agent.session.setMode, () => ({}))
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const [word, rest] = prompt[0].text.slice(0, 32).split(" ");
    if (word === "stream") {
      for (let number = 0; number < Number(rest); number++) {
        await text(client, sessionId, "agent_message_chunk", workload.token(number));
      }
    } else if (word === "blob") {
      await text(client, sessionId, "agent_message_chunk", workload.blob(Number(rest)));
    } else if (word === "mixed") {
      for (const [kind, value] of workload.MIXED) await mixed[kind](client, sessionId, value);
    }
    return { stopReason: "end_turn" };
  })
  .connect(stdio(acp));
