"use strict";

class MailgridError extends Error {}

// Mailgrid is the provider of mails.
class Mailgrid {
  constructor(http) {
    this.http = http;
  }

  async send(template, customer) {
    const answer = await this.http.post("https://api.mailgrid.example/v1/messages", { template, to: customer.email });
    if (answer.status >= 400) {
      throw new MailgridError(`mailgrid answers ${answer.status} ${answer.statusText}`);
    }
    return answer.body.id;
  }
}

module.exports = { Mailgrid };
