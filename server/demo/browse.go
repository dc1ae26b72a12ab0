package demo

import (
	"fmt"
	"net/url"
	"time"
)

// The paths of a reading request, from the gateway on.

const ms = time.Millisecond

func (t *trace) listProducts() *failure {
	category := pick(t.r, []string{"kitchen", "outdoor", "office", "textiles"})
	return t.http(call{to: edge, method: "GET", route: "/api/products", path: "/api/products?category=" + category}, func() *failure {
		t.work(ms)
		return t.http(call{to: catalog, method: "GET", route: "/products", path: "/products?category=" + category}, func() *failure {
			t.work(2 * ms)
			if f := t.query(redis("GET", "GET list:"+category), 700*time.Microsecond, nil); f != nil {
				return f
			}
			if t.r.chance(0.2) {
				t.log(levelDebug, fmt.Sprintf("cache miss for list:%s, reading from the database", category), text("cache.key", "list:"+category))
				read := postgres("catalog", "SELECT", "products",
					"SELECT id, name, price, image FROM products WHERE category = $1 AND active ORDER BY rank LIMIT 48")
				if f := t.query(read, 14*ms, t.deadlock(0.0005)); f != nil {
					return f
				}
				t.query(redis("SET", "SET list:"+category+" ? EX 300"), 800*time.Microsecond, nil)
			}
			t.work(3 * ms)
			return nil
		})
	})
}

// viewProduct shows a product with recommendations.
func (t *trace) viewProduct(p product) *failure {
	return t.http(call{to: edge, method: "GET", route: "/api/products/{id}", path: "/api/products/" + p.id}, func() *failure {
		t.work(ms)
		return t.together(
			func() *failure { return t.readProduct(p) },
			func() *failure {
				t.recommend() // a page without recommendations is still a page
				return nil
			},
		)
	})
}

func (t *trace) readProduct(p product) *failure {
	return t.http(call{to: catalog, method: "GET", route: "/products/{id}", path: "/products/" + p.id}, func() *failure {
		t.add(text("shop.product.id", p.id))
		t.work(2 * ms)
		t.query(redis("GET", "GET product:"+p.id), 700*time.Microsecond, nil)
		if f := t.query(postgres("catalog", "SELECT", "products", "SELECT * FROM products WHERE id = $1"), 6*ms, t.deadlock(0.0005)); f != nil {
			return f
		}
		if t.fault(FaultRelease) {
			// One statement for each variant instead of one for all.
			t.step("ProductAssembler.loadVariants", func() *failure {
				for range 8 + t.r.IntN(7) {
					t.query(postgres("catalog", "SELECT", "product_variants", "SELECT * FROM product_variants WHERE id = $1"), 34*ms, nil)
				}
				return nil
			}, text("code.function.name", "shop.catalog.ProductAssembler.loadVariants"))
			t.log(levelWarn, fmt.Sprintf("slow request: GET /products/%s took %d ms, %d statements", p.id, 300+t.r.IntN(500), 10+t.r.IntN(7)),
				text("shop.product.id", p.id))
		} else {
			t.query(postgres("catalog", "SELECT", "product_variants", "SELECT * FROM product_variants WHERE product_id = $1"), 8*ms, nil)
		}
		if t.r.chance(0.004) {
			t.step("ImageService.resize", func() *failure { t.work(900 * ms); return nil }, text("shop.image.variant", "zoom"))
		}
		t.work(3 * ms)
		return nil
	})
}

func (t *trace) recommend() {
	t.grpc(recommendation, "shop.recommendation.v1.Recommendation/ListRecommendations", func() *failure {
		t.work(4 * ms)
		t.query(mongodb("find", "similarities", `{"find": "similarities", "filter": {"product_id": "?"}, "limit": 12}`), 9*ms, nil)
		t.step("rank candidates", func() *failure { t.work(11 * ms); return nil }, whole("shop.candidates", 12+t.r.IntN(30)),
			text("shop.model", "als-2026-11"))
		if t.r.chance(0.003) {
			return &failure{
				kind: "pymongo.errors.AutoReconnect", message: "connection to mongo-reco.db.shop.example:27017 closed",
				stack: stack(t.running, "pymongo.errors.AutoReconnect", "connection to mongo-reco.db.shop.example:27017 closed",
					"find_similar"), http: 503, grpc: 14,
			}
		}
		return nil
	})
}

func (t *trace) searchProducts() *failure {
	words := pick(t.r, []string{"tent", "blue mug", "wool blanket", "desk lamp", "knife set", "rain jacket", "gift", "socks", "*pan*"})
	path := "/api/search?q=" + url.QueryEscape(words)
	return t.http(call{to: edge, method: "GET", route: "/api/search", path: path}, func() *failure {
		t.work(ms)
		return t.http(call{to: search, method: "GET", route: "/search", path: "/search?q=" + url.QueryEscape(words)}, func() *failure {
			t.work(2 * ms)
			statement := `{"query": {"multi_match": {"query": "?", "fields": ["name^3", "text"]}}}`
			median := 18 * ms
			if words == "*pan*" { // a wildcard at the front reads every term
				statement, median = `{"query": {"wildcard": {"name": "?"}}}`, 1300*ms
			}
			f := t.query(opensearch(statement), median, func() *failure {
				if t.r.chance(0.002) {
					return &failure{
						kind: "ResponseError", message: "circuit_breaking_exception: [parent] Data too large",
						stack: stack(t.g.services[search], "ResponseError", "circuit_breaking_exception: [parent] Data too large",
							"SearchIndex.query"), http: 503, grpc: 14,
					}
				}
				return nil
			})
			if f != nil {
				t.log(levelError, "search failed: "+f.message, text("exception.type", f.kind))
				return f
			}
			t.log(levelInfo, fmt.Sprintf("search for %q gave %d results in %d ms", words, t.r.IntN(60),
				(t.now-int64(t.at.StartTimeUnixNano))/int64(ms)), text("shop.search.terms", words))
			t.work(2 * ms)
			return nil
		})
	})
}

func (t *trace) partnerStock() {
	t.http(call{to: edge, method: "GET", route: "/partner/v1/stock"}, func() *failure {
		t.work(ms)
		if t.r.chance(0.02) {
			return &failure{kind: "InvalidToken", message: "the token of partner acme has expired", http: 401, grpc: 16, expected: true}
		}
		return t.grpc(inventory, "shop.inventory.v1.Inventory/ListStock", func() *failure {
			t.work(2 * ms)
			return t.query(mysql("SELECT", "stock", "SELECT sku, available FROM stock WHERE warehouse_id = ? LIMIT 500"), 22*ms, nil)
		})
	})
}

func (t *trace) orderStatus() *failure {
	order := "o-" + t.r.digits(7)
	return t.http(call{to: edge, method: "GET", route: "/api/orders/{id}", path: "/api/orders/" + order}, func() *failure {
		t.work(ms)
		return t.getOrder(order)
	})
}

func (t *trace) getOrder(order string) *failure {
	return t.grpc(checkout, "shop.checkout.v1.Checkout/GetOrder", func() *failure {
		t.add(text("shop.order.id", order))
		if f := t.query(postgres("orders", "SELECT", "orders", "SELECT * FROM orders WHERE id = $1"), 5*ms, nil); f != nil {
			return f
		}
		if t.r.chance(0.03) {
			return &failure{kind: "NotFound", message: "order " + order + " is not known", http: 404, grpc: 5, expected: true}
		}
		return nil
	})
}

func (t *trace) signUp() *failure {
	return t.http(call{to: edge, method: "POST", route: "/api/signup"}, func() *failure {
		t.work(ms)
		if t.r.chance(0.05) {
			t.log(levelInfo, "sign-up refused: the address is taken", text("shop.reason", "address_taken"))
			return &failure{kind: "AddressTaken", message: "the address is taken", http: 409, grpc: 6, expected: true}
		}
		t.step("hash password", func() *failure { t.work(85 * ms); return nil }, text("shop.hash", "argon2id"))
		f := t.query(postgres("accounts", "INSERT", "users",
			"INSERT INTO users (id, email_hash, password_hash, created_at) VALUES ($1, $2, $3, now())"), 9*ms, nil)
		t.publish("kafka", "accounts.created", func() {
			t.consume(email, "kafka", "accounts.created", "email-worker", func() *failure { return t.sendMail("welcome") })
		})
		return f
	})
}

// deadlock returns a function that fails at random, as a statement in a deadlock does.
func (t *trace) deadlock(chance float64) func() *failure {
	return func() *failure {
		if !t.r.chance(chance) {
			return nil
		}
		t.work(200 * ms)
		return &failure{
			kind: "org.postgresql.util.PSQLException", message: "ERROR: canceling statement due to lock timeout",
			stack: stack(t.g.services[catalog], "org.postgresql.util.PSQLException", "ERROR: canceling statement due to lock timeout",
				"shop.catalog.ProductRepository.find"), http: 500, grpc: 13,
		}
	}
}
