// Finds the installed official TypeScript SDK, which lives in the cache folder and not beside these files.
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
