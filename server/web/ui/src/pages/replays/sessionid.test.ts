import { describe, expect, it } from "vitest";
import { sessionOf } from "./sessionid";

describe("sessionOf", () => {
  it("refuses what is no id of a session", () => {
    for (const id of ["", "srep_", "srep_0", "trace_abc", `srep_${"z".repeat(2000)}`]) expect(sessionOf(id)).toBeNull();
  });
  it("reads an id of the server", () => expect(sessionOf("srep_4zm8WRNfCZRU4SUKQ9tk")).toBe("visit-žluť 1"));
});
