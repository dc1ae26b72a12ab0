package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// The sources of the services. The go command does not build folders whose names begin with an underscore.
//
//go:embed all:_shop
var shop_ embed.FS

// sources returns the files by their path in the repository of the shop.
var sources = sync.OnceValue(func() map[string]string {
	out := map[string]string{"go.mod": "module shop\n\ngo 1.26\n"} // a folder with this file cannot be embedded
	err := fs.WalkDir(shop_, "_shop", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := shop_.ReadFile(path)
		out[strings.TrimPrefix(path, "_shop/")] = string(text)
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return out
})

// Sources returns the source code of the shop, by path, with the bugs that the planted faults come from.
func Sources() map[string]string {
	out := map[string]string{}
	for path, text := range sources() {
		out[path] = text
	}
	return out
}

// Bug is the cause of a planted fault in the source code of the shop.
type Bug struct {
	// Fault is the name of the fault, Service the service with the bug, and Path its file.
	Fault, Service, Path string
	// Good is the text before the bug, Bad the one with it.
	Good, Bad string
	// Author made the commit with the bug, whose message is Message. Fix is the message of one that mends it.
	Author, Message, Fix string
}

// Mend returns the text of the file without the bug.
func (b Bug) Mend(text string) string { return strings.Replace(text, b.Bad, b.Good, 1) }

// Bugs lists the bugs.
func Bugs() []Bug {
	return []Bug{
		{
			Fault: FaultRelease, Service: catalog, Path: "catalog/src/main/java/shop/catalog/ProductAssembler.java",
			Good: `        return products.variants(product);
`,
			Bad: `        List<String> skus = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            skus.add(products.variant(product, number));
        }
        return skus;
`,
			Author: "Ada", Message: "Load only the variants that are shown", Fix: "Load all variants with one statement",
		},
		{
			Fault: FaultErrors, Service: cart, Path: "cart/src/cart.js",
			Good:   "const price = product.prices[currency] ?? Cart.converted(product, currency);",
			Bad:    "const price = product.prices[currency];",
			Author: "Grace", Message: "Sum prices in the currency of the visitor\n\nNo conversion is needed: each product has its own prices.",
			Fix: "Convert a price that a product does not have",
		},
		{
			Fault: FaultDependency, Service: payments, Path: "payments/src/main/java/shop/payments/PayfastClient.java",
			Good: `Duration.ofMillis(800);
    private static final int ATTEMPTS = 1;`,
			Bad: `Duration.ofSeconds(3);
    private static final int ATTEMPTS = 3;`,
			Author: "Edsger", Message: "Wait longer for Payfast, and try again", Fix: "Give a charge up when Payfast does not answer",
		},
		{
			Fault: FaultLogs, Service: inventory, Path: "inventory/src/main/java/shop/inventory/StockLedger.java",
			Good: `        if (Math.abs(counted - booked) > 100) {
            LOG.warning(`,
			Bad:    `        LOG.warning(`,
			Author: "Barbara", Message: "Log each drift of the ledger", Fix: "Log large drifts of the ledger only",
		},
	}
}

// site is a place in the source code: a function, its file, and a piece of the line, which is the first one that has it.
type site struct{ function, file, code string }

// line finds the line of a place. It returns its number, its text without indentation, and the column of the code.
func (s site) line() (number int, line string, column int) {
	text := sources()[s.file]
	at := strings.Index(text, s.code)
	if at < 0 {
		panic(fmt.Sprintf("demo: %s has no %q", s.file, s.code)) // a test reads all places
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ = strings.Cut(text[begin:], "\n")
	return strings.Count(text[:at], "\n") + 1, strings.TrimSpace(line), at - begin + 1
}
