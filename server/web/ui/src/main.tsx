import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import type { ApiError } from "./api/client";
import "./parts/tokens.css";
import "./parts/parts.css";
import { Waiting } from "./parts/states";
import { Boundary } from "./frame/boundary";
import { Entry } from "./frame/shell";
import { applyPreferences } from "./frame/preferences";
import { page } from "./pages/routes";

const Shared = lazy(() => import("./pages/dashboards/sharepage"));

applyPreferences();
// A page that was opened before an upgrade asks for files that are gone. It reloads once.
window.addEventListener("vite:preloadError", () => {
  if (sessionStorage.getItem("reloaded") !== document.querySelector<HTMLScriptElement>("script[type=module]")?.src) {
    sessionStorage.setItem("reloaded", document.querySelector<HTMLScriptElement>("script[type=module]")?.src ?? "");
    location.reload();
  }
});

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      retry: (times, error) => times < 2 && (error as ApiError).retryable === true,
    },
  },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      {location.pathname.startsWith("/share/") ? (
        <Suspense fallback={<Waiting lines={8} />}>
          <Shared token={location.pathname.split("/")[2] ?? ""} />
        </Suspense>
      ) : (
        <Entry
          page={(path) => (
            <Boundary key={path.split("/")[0]}>
              <Suspense fallback={<Waiting lines={8} />}>{page(path)}</Suspense>
            </Boundary>
          )}
        />
      )}
    </QueryClientProvider>
  </StrictMode>,
);
