"use strict";

// addItem answers POST /cart/items.
async function addItem(request, { store, inventory, products }) {
  const { productId, quantity } = request.body;
  const product = await products.get(productId);
  const available = await inventory.checkAvailability(productId);
  if (available < quantity) {
    return { status: 409, body: { message: "sold out" } };
  }
  const cart = await store.get(request.visitor);
  const total = cart.add(product, quantity);
  await store.put(cart, product);
  return { status: 200, body: { total } };
}

module.exports = { addItem };
