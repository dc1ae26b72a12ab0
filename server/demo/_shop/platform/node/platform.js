"use strict";

// Guard runs the work of a request.
class Guard {
  static async run(work) {
    return await Guard.attempt(work);
  }

  static async attempt(work) {
    return await work();
  }
}

async function traced(request, work) {
  return await Guard.run(work);
}

// handle answers one request.
async function handle(request, route, context) {
  return await traced(request, () => route(request, context));
}

// serve answers the requests of a connection.
async function serve(connection, route, context) {
  for await (const request of connection) {
    connection.reply(await handle(request, route, context));
  }
}

class Memory {
  static grow(size) {
    return Buffer.alloc(size);
  }
}

class Upstream {
  static pick(hosts, region) {
    const healthy = hosts.filter((host) => host.healthy);
    if (healthy.length === 0) throw new Error(`no healthy upstream in ${region}`);
    return healthy[0];
  }
}

class Experiment {
  static run(flag, plans) {
    if (!plans[flag]) throw new Error(`${flag}: the request has no plan`);
    return plans[flag]();
  }
}

class Cache {
  static read(key, entry) {
    if (entry.version !== 2) throw new Error(`cannot decode the entry for ${key}`);
    return entry.value;
  }
}

class Handler {
  static prepare(request) {
    if (request.totals === null) throw new Error("the field totals is missing");
    return { totals: request.totals };
  }
}

class Connection {
  static handshake(certificate, dependency) {
    if (certificate.expires < Date.now()) throw new Error(`certificate of ${dependency} has expired`);
  }

  static read(socket, dependency) {
    if (socket.destroyed) throw new Error(`connection to ${dependency} was reset`);
    return socket.read();
  }
}

module.exports = { Guard, serve, Memory, Upstream, Experiment, Cache, Handler, Connection };
