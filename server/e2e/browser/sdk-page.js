// The page's own behaviour. The browser SDK must not change it.
window.rejections = [];
window.errors = [];
addEventListener('error', (e) => window.errors.push(e.message));
addEventListener('unhandledrejection', (e) => window.rejections.push(String(e.reason)));
const on = (id, fn) => document.getElementById(id).addEventListener('click', fn);

on('add', async () => {
  const response = await fetch('/api/cart', { method: 'POST', headers: { 'x-own': 'kept' } });
  const { item } = await response.json();
  const row = document.createElement('li');
  row.textContent = item;
  document.getElementById('cart').append(row);
  history.pushState({}, '', '/cart?token=SECRET-TOKEN&page=2');
  window.svc?.track('item added', { item, count: 2, gift: true });
});
on('break', () => {
  console.error('the voucher service does not answer', { code: 7, password: 'SECRET-LOGGED' });
  throw new Error('voucher refused');
});
on('reject', () => {
  void Promise.reject(new TypeError('payment refused'));
});
on('show', () => {
  document.getElementById('password').type = 'text';
});
on('far', () => {
  // Nobody handles the failure: the page hears of it, with or without the SDK.
  void fetch(window.partner + '/price');
});
on('old', () => {
  const request = new XMLHttpRequest();
  request.open('GET', '/api/missing');
  request.send();
});
