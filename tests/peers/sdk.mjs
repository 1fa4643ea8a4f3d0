// Finds the installed official TypeScript SDK, which lives in the cache folder and not beside these files.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../.cache/peers/package.json", import.meta.url));

/** Loads one entry point of the SDK: "" (version 1), "/unstable", "/experimental/v2", "/experimental/v2/unstable". */
export const load = (entry = "") => import(pathToFileURL(require.resolve(`@agentclientprotocol/sdk${entry}`)));

/** The stream of an agent: its own standard output and input. */
export const stdio = (acp, options) =>
  acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin), options);

/** The stream of a client: the standard input and output of the agent it started. */
export const pipes = (acp, child, options) =>
  acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout), options);

/** The stream of a client to a URL: WebSocket or Streamable HTTP. */
export const remote = async (url, token) => {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  if (!url.startsWith("ws")) return (await load("/experimental/http-client")).createHttpStream(url, { headers });
  const { WebSocket } = require("ws"); // Node 20 has no WebSocket of its own
  return (await load("/experimental/ws-client")).createWebSocketStream(url, { WebSocket, headers });
};

/** Serves an agent by HTTP and WebSocket on a free port, and prints its URL. */
export const serve = async (agent) => {
  const { AcpServer } = await load("/experimental/server");
  const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await load("/experimental/node");
  const { WebSocketServer } = require("ws");
  const acpServer = new AcpServer({ agent });
  const server = createServer(createNodeHttpHandler(acpServer));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, sockets));
  server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/acp\n`));
};
