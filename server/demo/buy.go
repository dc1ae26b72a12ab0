package demo

import (
	"fmt"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// The paths of a buying request.

func (t *trace) showCart() *failure {
	return t.http(call{to: edge, method: "GET", route: "/api/cart"}, func() *failure {
		t.work(ms)
		return t.readCart()
	})
}

func (t *trace) readCart() *failure {
	return t.http(call{to: cart, method: "GET", route: "/cart"}, func() *failure {
		t.work(ms)
		return t.query(redis("HGETALL", "HGETALL cart:"+t.visitorID()), 900*time.Microsecond, nil)
	})
}

func (t *trace) visitorID() string {
	if t.visitor == nil || t.visitor.id == "" {
		return "anonymous"
	}
	return t.visitor.id
}

func (t *trace) addToCart(p product) *failure {
	quantity := 1 + t.r.IntN(3)
	return t.http(call{to: edge, method: "POST", route: "/api/cart/items"}, func() *failure {
		t.work(ms)
		return t.http(call{to: cart, method: "POST", route: "/cart/items"}, func() *failure {
			t.add(text("shop.product.id", p.id), whole("shop.quantity", quantity))
			t.work(2 * ms)
			available := t.grpc(inventory, "shop.inventory.v1.Inventory/CheckAvailability", func() *failure {
				t.work(ms)
				return t.query(mysql("SELECT", "stock", "SELECT available FROM stock WHERE sku = ?"), 4*ms, nil)
			})
			if available != nil {
				return available
			}
			if t.fault(FaultErrors) && t.r.chance(0.35) {
				f := &failure{kind: "TypeError", message: "Cannot read properties of undefined (reading 'minorUnits')", http: 500, grpc: 13}
				f.stack = stack(t.running, f.kind, f.message, "Cart.total",
					"Cart.add", "addItem")
				t.log(levelError, "could not add "+p.id+" to the cart: "+f.message, text("exception.type", f.kind),
					text("exception.message", f.message), text("exception.stacktrace", f.stack))
				return f
			}
			if f := t.query(redis("HSET", "HSET cart:"+t.visitorID()+" "+p.id+" ?"), 900*time.Microsecond, t.redisTimeout); f != nil {
				return f
			}
			t.log(levelInfo, fmt.Sprintf("added %d of %s to cart of %s", quantity, p.id, t.visitorID()), text("shop.product.id", p.id),
				whole("shop.quantity", quantity))
			t.observe("shop.cart.additions", float64(quantity), text("shop.product.category", p.category))
			return nil
		})
	})
}

func (t *trace) redisTimeout() *failure {
	if !t.r.chance(0.001) {
		return nil
	}
	t.wait(time.Second)
	return &failure{
		kind: "CommandTimeoutError", message: "Command timed out", stack: stack(t.g.services[cart], "CommandTimeoutError", "Command timed out",
			"CartStore.put", "addItem 2"),
		http: 503, grpc: 14,
	}
}

// placeOrder is a checkout with all its consequences.
func (t *trace) placeOrder() *failure {
	order, total := "o-"+t.r.digits(7), 15+t.r.Float64()*220
	return t.http(call{to: edge, method: "POST", route: "/api/checkout"}, func() *failure {
		t.work(2 * ms)
		return t.grpc(checkout, "shop.checkout.v1.Checkout/PlaceOrder", func() *failure {
			t.add(text("shop.order.id", order), decimal("shop.order.total", cents(total)))
			if f := t.order(order, total); f != nil {
				level := levelError
				if f.expected {
					level = levelWarn
				}
				t.log(level, fmt.Sprintf("order %s failed: %s", order, f.message), text("shop.order.id", order), text("error.type", f.kind))
				return f
			}
			t.log(levelInfo, fmt.Sprintf("order %s placed for %.2f EUR", order, total), text("shop.order.id", order),
				decimal("shop.order.total", cents(total)))
			t.observe("shop.orders.placed", 1, text("shop.payment.method", "card"))
			t.observe("shop.order.value", cents(total), text("shop.currency", "EUR"))
			return nil
		})
	})
}

func cents(v float64) float64 { return float64(int64(v*100)) / 100 }

func (t *trace) order(order string, total float64) *failure {
	if f := t.readCart(); f != nil {
		return f
	}
	if f := t.together(func() *failure { return t.reserve(order) }, t.quote); f != nil {
		return f
	}
	if f := t.charge(order, total); f != nil {
		t.grpc(inventory, "shop.inventory.v1.Inventory/Release", func() *failure {
			return t.query(mysql("UPDATE", "reservations", "UPDATE reservations SET state = 'released' WHERE order_id = ?"), 6*ms, nil)
		})
		return f
	}
	if f := t.query(postgres("orders", "INSERT", "orders", "INSERT INTO orders (id, customer_id, total, state) VALUES ($1, $2, $3, 'paid')"),
		8*ms, nil); f != nil {
		return f
	}
	t.publish(
		"kafka", "orders.placed",
		func() {
			t.consume(email, "kafka", "orders.placed", "email-worker", func() *failure { return t.sendMail("order_confirmation") })
		},
		func() {
			t.consume(inventory, "kafka", "orders.placed", "inventory", func() *failure {
				t.log(levelInfo, fmt.Sprintf("committed reservation of order %s", order), text("shop.order.id", order))
				return t.query(mysql("UPDATE", "stock", "UPDATE stock SET available = available - ? WHERE sku = ?"), 9*ms, nil)
			})
		},
		func() {
			t.consume(shipping, "kafka", "orders.placed", "shipping", func() *failure { return t.ship(order) })
		},
	)
	return nil
}

func (t *trace) reserve(order string) *failure {
	return t.grpc(inventory, "shop.inventory.v1.Inventory/Reserve", func() *failure {
		if t.r.chance(0.015) {
			return &failure{kind: "OutOfStock", message: "one of the items is out of stock", http: 409, grpc: 9, expected: true}
		}
		return t.step("reserve in transaction", func() *failure {
			if f := t.query(mysql("SELECT", "stock", "SELECT available FROM stock WHERE sku IN (?) FOR UPDATE"), 6*ms, nil); f != nil {
				return f
			}
			return t.query(mysql("INSERT", "reservations",
				"INSERT INTO reservations (order_id, sku, quantity, expires_at) VALUES (?, ?, ?, ?)"), 5*ms, nil)
		}, text("shop.order.id", order))
	})
}

func (t *trace) quote() *failure {
	return t.grpc(shipping, "shop.shipping.v1.Shipping/GetQuote", func() *failure {
		t.work(2 * ms)
		t.external("POST", "api.parcelway.example", "/v3/rates", 95*ms, func() *failure {
			if t.r.chance(0.004) {
				return &failure{
					kind: "503", message: "parcelway answers 503 Service Unavailable",
					stack: stack(t.g.services[shipping], "503", "parcelway answers 503 Service Unavailable", "parcelway.(*Client).Rates"), http: 503,
					grpc: 14,
				}
			}
			return nil
		}) // without rates, shipping falls back to a table
		return nil
	})
}

// charge calls the payment provider, up to three times.
func (t *trace) charge(order string, total float64) *failure {
	return t.grpc(payments, "shop.payments.v1.Payments/Charge", func() *failure {
		t.add(text("shop.order.id", order), text("shop.payment.provider", "payfast"))
		t.work(3 * ms)
		if f := t.query(postgres("payments", "INSERT", "attempts", "INSERT INTO attempts (order_id, amount, state) VALUES (?, ?, 'new')"),
			7*ms, nil); f != nil {
			return f
		}
		var last *failure
		for try := range 3 {
			if try > 0 {
				t.wait(time.Duration(100<<try) * ms)
			}
			last = t.external("POST", "api.payfast.example", "/v1/charges", 210*ms, t.askProvider, whole("http.request.resend_count", try))
			if last == nil || last.expected {
				break
			}
			t.log(levelWarn, fmt.Sprintf("charge of order %s: attempt %d of 3 failed: %s", order, try+1, last.message),
				text("shop.order.id", order), whole("shop.attempt", try+1))
		}
		if last != nil {
			if !last.expected {
				t.log(levelError, fmt.Sprintf("giving up on order %s: payfast does not answer", order), text("shop.order.id", order),
					text("exception.type", last.kind), text("exception.message", last.message))
			}
			return last
		}
		t.log(levelInfo, fmt.Sprintf("charged %.2f EUR for order %s", total, order), text("shop.order.id", order))
		return t.query(postgres("payments", "UPDATE", "attempts", "UPDATE attempts SET state = 'captured' WHERE order_id = ?"), 6*ms, nil)
	})
}

func (t *trace) askProvider() *failure {
	chance := 0.003
	if t.fault(FaultDependency) {
		chance = 0.65
	}
	if t.r.chance(chance) {
		t.wait(3 * time.Second)
		message := "timeout: no answer from api.payfast.example within 3000 ms"
		return &failure{
			kind: timeoutKind, message: message, stack: stack(t.g.services[payments], timeoutKind, message,
				"shop.payments.PayfastClient.post", "shop.payments.PayfastClient.charge"), http: 504, grpc: 4,
		}
	}
	if t.r.chance(0.03) {
		return &failure{kind: "CardDeclined", message: "the card was declined", http: 402, grpc: 9, expected: true, recorded: true}
	}
	return nil
}

// sendMail calls the e-mail provider, which limits the number of mails.
func (t *trace) sendMail(template string) *failure {
	t.work(4 * ms)
	t.add(text("svc.product_event.name", "email sent"), text("svc.product_event.user_id", t.visitorID()),
		text("svc.product_event.prop.template", template))
	for try := 1; ; try++ {
		f := t.external("POST", "api.mailgrid.example", "/v1/messages", 130*ms, func() *failure {
			if t.r.chance(0.04) {
				return &failure{
					kind: "429", message: "mailgrid answers 429 Too Many Requests",
					stack: stack(t.g.services[email], "429", "mailgrid answers 429 Too Many Requests",
						"Mailgrid.send"), http: 429, grpc: 8,
				}
			}
			return nil
		})
		if f == nil {
			t.log(levelInfo, fmt.Sprintf("sent mail %s (template %s) after %d attempts", t.r.hex(12), template, try),
				text("shop.template", template))
			return nil
		}
		if try == 3 {
			t.log(levelError, fmt.Sprintf("mail with template %s is given up: %s", template, f.message), text("shop.template", template))
			return f
		}
		t.wait(time.Duration(try) * 500 * ms)
	}
}

// ship books a parcel and requests its label. Another process prints the label, in a separate trace that links to this one.
func (t *trace) ship(order string) *failure {
	t.query(postgres("shipping", "INSERT", "parcels", "INSERT INTO parcels (order_id, carrier, state) VALUES ($1, $2, 'new')"), 7*ms, nil)
	t.publish("rabbitmq", "labels")
	link := &tracepb.Span_Link{TraceId: t.id, SpanId: t.at.SpanId, Attributes: []attribute{text("messaging.system", "rabbitmq")}}
	label := t.g.begin(t.r, t.now+int64(t.r.near(300*ms, 0.6)), t.environment, nil)
	label.link = link
	label.consume(shipping, "rabbitmq", "labels", "label-printer", func() *failure {
		label.step("render label", func() *failure { label.work(60 * ms); return nil }, text("shop.order.id", order))
		return nil
	})
	label.end()
	return nil
}

// reconcileStock compares the stock in the books with the stock on the shelves.
func (t *trace) reconcileStock() {
	sc := t.open(t.g.services[inventory], internal, "job stock-reconcile",
		text("code.function.name", "shop.inventory.StockReconciler.run"), text("shop.job", "stock-reconcile"))
	t.log(levelInfo, "stock reconciliation started")
	for range 6 {
		t.query(mysql("SELECT", "stock", "SELECT sku, available, booked FROM stock WHERE warehouse_id = ? AND sku > ? LIMIT 5000"), 180*ms, nil)
		t.work(40 * ms)
	}
	t.log(levelInfo, fmt.Sprintf("stock reconciliation finished: %d skus compared, %d differ", 28000+t.r.IntN(900), t.r.IntN(4)))
	t.shut(sc, nil)
}

// retrain is a long batch job.
func (t *trace) retrain() {
	sc := t.open(t.g.services[recommendation], internal, "job retrain", text("shop.job", "retrain"))
	t.query(mongodb("aggregate", "clicks", `{"aggregate": "clicks", "pipeline": [{"$match": {"at": {"$gt": "?"}}}]}`), 4*time.Second, nil)
	t.step("factorize", func() *failure { t.work(11 * time.Second); return nil }, whole("shop.rank", 64))
	t.query(mongodb("bulkWrite", "similarities", `{"bulkWrite": 1}`), 2*time.Second, nil)
	t.log(levelInfo, fmt.Sprintf("retrained model als-2026-11 on %d clicks, loss 0.%d", 180000+t.r.IntN(40000), 2100+t.r.IntN(90)))
	t.shut(sc, nil)
}

// consumeClicks is a batch of page views.
func (t *trace) consumeClicks() {
	t.consume(recommendation, "kafka", "clickstream", "recommendation", func() *failure {
		t.add(whole("messaging.batch.message_count", 20+t.r.IntN(80)))
		return t.query(mongodb("insert", "clicks", `{"insert": "clicks", "documents": ["?"]}`), 12*ms, nil)
	})
}
