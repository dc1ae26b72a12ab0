"use strict";

// SearchIndex searches products in OpenSearch.
class SearchIndex {
  constructor(client) {
    this.client = client;
  }

  // query finds products by words. A star stands for any letters, also at the front.
  async query(words) {
    const query = words.includes("*")
      ? { wildcard: { name: words } }
      : { multi_match: { query: words, fields: ["name^3", "text"] } };
    const found = await this.client.search({ index: "products", body: { query } });
    return found.hits.hits.map((hit) => hit._source);
  }
}

module.exports = { SearchIndex };
