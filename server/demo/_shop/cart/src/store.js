"use strict";

const { Cart } = require("./cart");

// CartStore keeps carts in Redis.
class CartStore {
  constructor(redis) {
    this.redis = redis;
  }

  async get(visitor) {
    const stored = await this.redis.hgetall(`cart:${visitor}`);
    return new Cart(visitor, Object.values(stored).map((text) => JSON.parse(text)));
  }

  async put(cart, product) {
    const item = cart.items.find((one) => one.product.id === product.id);
    await this.redis.hset(`cart:${cart.visitor}`, product.id, JSON.stringify(item));
  }
}

module.exports = { CartStore };
