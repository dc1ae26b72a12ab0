import { href, Link } from "../../frame/router";
import type { Leads } from "../../grid/tables";

/** leads are the pages behind the values of a widget. */
export const leads: Leads = {
  trace: (id, children) => <Link href={href(`/traces/${id}`)}>{children}</Link>,
  service: (name, children) => <Link href={href(`/services/${encodeURIComponent(name)}`)}>{children}</Link>,
};

/** save gives a text to the person as a file. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[^\p{L}\p{N}._ -]+/gu, "-").slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
