// An OpenID Connect provider on a free port, for tests.
//
//	node provider.mjs [id-token]
//
// It prints its issuer, then reads one line: the redirect URI of its client. With `id-token` it puts all claims into the ID token; without,
// only the userinfo endpoint has the email address. A person has the address that they type at the sign-in. It is verified unless it begins
// with "unverified".
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { Provider } from 'oidc-provider';

let handle = (_, res) => { res.statusCode = 503; res.end(); };
const server = createServer((req, res) => handle(req, res));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;
console.log(issuer);

const lines = createInterface({ input: process.stdin });
const redirect = await new Promise((done) => lines.once('line', done));
// The end of the test closes the input.
lines.once('close', () => process.exit(0));

const provider = new Provider(issuer, {
  clients: [{ client_id: 'svc', client_secret: 'the secret of the client', redirect_uris: [redirect], grant_types: ['authorization_code'], response_types: ['code'] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: process.argv[2] !== 'id-token',
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  cookies: { keys: ['a key of the test'] },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: !id.startsWith('unverified'), name: `${id.split('@')[0]} at the provider` }),
  }),
});
const call = provider.callback();

const form = '<!doctype html><title>Provider</title><form method="post"><label>Address <input name="login"></label><button>Sign in here</button></form><form method="post"><button name="abort" value="1">Cancel</button></form>';

handle = async (req, res) => {
  if (!req.url.startsWith('/interaction/')) return call(req, res);
  try {
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'consent') {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
      grant.addOIDCScope(params.scope);
      return await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
    }
    if (req.method !== 'POST') {
      res.setHeader('Content-Type', 'text/html');
      return res.end(form);
    }
    let body = '';
    for await (const part of req) body += part;
    const fields = new URLSearchParams(body);
    const result = fields.has('abort') ? { error: 'access_denied', error_description: 'the person went away' } : { login: { accountId: fields.get('login') } };
    return await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  } catch (error) {
    res.statusCode = 500;
    return res.end(String(error));
  }
};
console.log('ready');
