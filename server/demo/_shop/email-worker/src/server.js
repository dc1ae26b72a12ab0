"use strict";

const { serve } = require("../../platform/node/platform");
const { Mailgrid } = require("./mailgrid");

// route finds what answers a request.
async function route(request, context) {
  const answer = (r, c) => new Mailgrid(c.http).send(r.template, r.customer);
  return await answer(request, context);
}

module.exports = { serve: (connection, context) => serve(connection, route, context) };
