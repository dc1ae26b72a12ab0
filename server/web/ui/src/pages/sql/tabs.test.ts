import { expect, test } from "vitest";
import { packed, readHistory, readTabs, remembered, unpacked } from "./tabs";

test("tabs go through a link, whatever they hold", async () => {
  const tabs = {
    list: [
      { id: "a", name: "x %&#", sql: `SELECT '${"é☃\"'\\\n".repeat(3000)}'` },
      { id: "b", name: "", sql: "" },
    ],
    at: "b",
  };
  expect(await unpacked(await packed(tabs))).toEqual(tabs);
});

test("what cannot be read is dropped", async () => {
  for (const bad of [null, "", "1", "[]", '{"list":[1]}', '{"list":[{"id":1}]}']) expect(readTabs(bad)).toBeNull();
  expect(readTabs('{"list":[{"id":"a","name":"n","sql":"s"},7],"at":"zzz"}')).toEqual({
    list: [{ id: "a", name: "n", sql: "s" }],
    at: "a",
  });
  for (const bad of ["", "%%%", "AAAA"]) expect(await unpacked(bad)).toBeNull();
  expect(readHistory('["a",1]')).toEqual(["a"]);
  expect(readHistory("{")).toEqual([]);
});

test("a statement is in the history once", () => {
  expect(remembered(["a", "b"], "b")).toEqual(["b", "a"]);
});
