"use strict";

const RATES = { EUR: 1, CHF: 0.96, GBP: 0.84 };

// Cart is what a visitor is about to buy.
class Cart {
  constructor(visitor, items = []) {
    this.visitor = visitor;
    this.items = items;
  }

  // add puts an item into the cart and returns the new total.
  add(product, quantity) {
    const known = this.items.find((item) => item.product.id === product.id);
    if (known) {
      known.quantity += quantity;
    } else {
      this.items.push({ product, quantity });
    }
    return this.total(product.currency);
  }

  // total is the price of all items in a currency, in its minor unit.
  total(currency) {
    let sum = 0;
    for (const { product, quantity } of this.items) {
      const price = product.prices[currency];
      sum += price.minorUnits * quantity;
    }
    return { currency, minorUnits: Math.round(sum) };
  }

  // converted is the price of a product in a currency in which it has none of its own.
  static converted(product, currency) {
    const base = product.prices.EUR;
    return { minorUnits: Math.round(base.minorUnits * RATES[currency]) };
  }
}

module.exports = { Cart };
