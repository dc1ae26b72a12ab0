"use strict";

const { serve } = require("../../platform/node/platform");
const { addItem } = require("./routes/items");

// route finds what answers a request.
async function route(request, context) {
  const answer = request.method === "POST" ? addItem : () => ({ status: 404 });
  return await answer(request, context);
}

module.exports = { serve: (connection, context) => serve(connection, route, context) };
