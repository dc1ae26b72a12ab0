import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const api = process.env.SVC_DEV_API ?? "http://127.0.0.1:8080";
const passed = ["/svc.v2.", "/v2", "/login", "/logout", "/account", "/programs", "/assets"];

export default defineConfig({
  base: "/ui/",
  plugins: [react()],
  build: {
    outDir: "../dist",
    emptyOutDir: false, // it holds a README; compress.mjs empties it before a build
    assetsInlineLimit: 0, // the policy of the pages takes files of this server
    modulePreload: { polyfill: false },
    target: "es2023",
    rollupOptions: { input: ["index.html", "player.html"] }, // recordings play in a page with a policy of its own
  },
  server: { port: 5173, proxy: Object.fromEntries(passed.map((path) => [path, { target: api, changeOrigin: false }])) },
});
