"use strict";

const { serve } = require("../../platform/node/platform");
const { SearchIndex } = require("./query");

// route finds what answers a request.
async function route(request, context) {
  const answer = (r, c) => new SearchIndex(c.opensearch).query(r.query.q);
  return await answer(request, context);
}

module.exports = { serve: (connection, context) => serve(connection, route, context) };
