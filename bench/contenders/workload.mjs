// What every contender sends, so that all send the same. `workload.py` says it for the Python contenders.
export const READ = "a line of the file that was read\n".repeat(60);
export const OLD = "this line was there before the edit\n".repeat(111);
export const NEW = "this line is here after the edit\n\n".repeat(118);
export const PLAN = ["Look around", "Find the cause", "Write the change", "Run the tests", "Tell the user"];
export const IN_FLIGHT = 256;
export const WARM_UP = 3000;
export const UPDATES_PER_SESSION = 20;
export const BLOB = 20_000_000;

export const session = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
export const token = (number) => `token ${number} of the stream `;
export const blob = (size) => "0123456789abcdef".repeat(Math.floor(size / 16));
export const path = (number) => `/project/src/file_${number}.py`;

export const MIXED = [["plan", ""]];
for (let part = 0; part < 50; part++) {
  for (let step = 0; step < 4; step++) MIXED.push(["thought", `thinking about part ${part}, step ${step} `]);
  for (let step = 0; step < 10; step++) MIXED.push(["chunk", token(part * 10 + step)]);
  MIXED.push(["tool", String(part)]);
  if (part % 5 === 0) MIXED.push(["permission", String(part)]);
  if (part % 5 === 1 || part % 5 === 3) MIXED.push(["read", String(part)]);
}
