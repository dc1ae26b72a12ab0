import { lazy, Suspense, useState } from "react";
import type { ViewPage } from "./views";

const SaveView = lazy(() => import("./dialogs").then((m) => ({ default: m.SaveView })));
const ListViews = lazy(() => import("./dialogs").then((m) => ({ default: m.ListViews })));

/** Views saves the state of the page under a name, and lists the saved views of the page. A page puts it in its head. */
export function Views({ page, parameters = {} }: { page: ViewPage; parameters?: Record<string, string> }) {
  const [open, setOpen] = useState<"" | "save" | "list">("");
  const [saved, setSaved] = useState("");
  const close = (): void => setOpen("");
  return (
    <>
      <span className="sr" role="status">
        {saved && `The view ${saved} is saved.`}
      </span>
      <button type="button" className="button" onClick={() => setOpen("save")}>
        Save view
      </button>
      <button type="button" className="button" onClick={() => setOpen("list")}>
        Saved views
      </button>
      <Suspense>
        {open === "save" && <SaveView page={page} parameters={parameters} close={close} saved={setSaved} />}
        {open === "list" && <ListViews page={page} parameters={parameters} close={close} />}
      </Suspense>
    </>
  );
}
