// Shows this server's OpenAPI document with Scalar. Nothing is loaded from another server.
/* global Scalar */

const base = new URL('..', location.href).href.replace(/\/$/, '');
const answer = await fetch(base + '/openapi.json');
if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
const content = await answer.json();

// Scalar sends every parameter that has an example. An optional one shall be sent only when somebody asks for it.
for (const operations of Object.values(content.paths)) {
  for (const { parameters = [] } of Object.values(operations)) {
    for (const p of parameters) {
      if (p.required || p.example === undefined) continue;
      p.examples = { example: { value: p.example, 'x-disabled': true } };
      delete p.example;
    }
  }
}

Scalar.createApiReference('#reference', {
  content,
  servers: [{ url: base, description: 'This installation' }], // whatever name the page was reached by
  authentication: { preferredSecurityScheme: 'bearer' },
  orderSchemaPropertiesBy: 'preserve', // the order of the contract
  generateOperationSlug: ({ operationId, method, path }) => operationId ?? method + path,
  // Off: fonts and a proxy of another server, usage reports, links to the vendor's services.
  withDefaultFonts: false,
  proxyUrl: '',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // The document has a link of its own, and a key that somebody pastes is forgotten with the page.
  documentDownloadType: 'none',
  persistAuth: false,
});
