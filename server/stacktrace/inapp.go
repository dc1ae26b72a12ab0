package stacktrace

import "strings"

// inApp is the table of code that does not belong to the application: the runtime, libraries, generated code. It goes by the folder of
// packages where the language has one, and by names where it has none.
func inApp(f *Frame) bool {
	switch f.Language {
	case Java:
		return !javaLibrary(f.Module, f.Function)
	case DotNet:
		return !dotnetLibrary(f.Module, f.Function)
	case JavaScript:
		return !scriptLibrary(f.File, f.Function)
	case Python:
		return !strings.Contains(f.File, "site-packages") && !strings.Contains(f.File, "dist-packages") &&
			!strings.HasPrefix(f.File, "<frozen") && !strings.Contains(f.File, "/lib/python") && !strings.Contains(f.File, `\lib\`) &&
			!strings.Contains(f.File, `\Lib\`)
	case Go:
		return !goLibrary(f.Module, f.File)
	case Ruby:
		return !strings.Contains(f.File, "/gems/") && !strings.Contains(f.File, "/lib/ruby/") && !strings.HasPrefix(f.File, "<internal:") &&
			!strings.Contains(f.File, "vendor/bundle/") && !strings.Contains(f.File, "/bin/") && !strings.HasPrefix(f.File, "bin/")
	case PHP:
		return !phpLibrary(f.Module, f.Function, f.File)
	case Rust:
		return !rustLibrary(f.Module, f.Function, f.File)
	case Elixir:
		return !strings.Contains(f.File, "deps/") && !elixirRuntime(f.Module, f.File)
	case Swift:
		return !swiftLibrary(f.Module, f.Function)
	case Dart:
		return !dartLibrary(f.File)
	default:
		return false
	}
}

// part returns the first name of a dotted or otherwise separated text, and the rest behind the separator.
func part(s string, separator byte) (first, rest string) {
	if i := strings.IndexByte(s, separator); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

func javaLibrary(module, function string) bool {
	first, rest := part(module, '.')
	second, rest := part(rest, '.')
	switch first {
	case "java", "javax", "jakarta", "jdk", "sun", "kotlin", "kotlinx", "scala", "groovy", "clojure", "akka", "cats", "zio", "play", "slick",
		"dalvik", "android", "androidx", "libcore", "reactor", "rx", "junit", "retrofit2", "okhttp3", "okio", "feign", "graphql", "ch",
		"_COROUTINE", "worker", "net", "lombok", "brave", "zipkin2", "redis", "coil", "dagger", "io", "org", "com", "software":
	default:
		return generated(module, function)
	}
	switch first {
	case "io":
		switch second {
		case "netty", "opentelemetry", "grpc", "micrometer", "reactivex", "vertx", "undertow", "quarkus", "micronaut", "ktor", "lettuce", "r2dbc",
			"projectreactor", "dropwizard", "helidon", "smallrye", "swagger", "jsonwebtoken", "fabric8", "kubernetes", "circe", "getquill":
			return true
		}
	case "org":
		switch second {
		case "springframework", "apache", "hibernate", "eclipse", "jboss", "wildfly", "postgresql", "mariadb", "junit", "mockito", "slf4j",
			"aspectj", "codehaus", "gradle", "reactivestreams", "quartz", "jooq", "elasticsearch", "opensearch", "mongodb", "redisson", "flywaydb",
			"liquibase", "glassfish", "yaml", "scalatest", "scalactic", "http4s", "typelevel", "jetbrains", "koin", "objectweb", "h2", "hsqldb",
			"sqlite", "thymeleaf", "mybatis", "bson", "xml", "w3c", "ietf", "graalvm", "openjdk", "joda", "json4s", "neo4j", "asynchttpclient":
			return true
		}
	case "com":
		switch second {
		case "sun", "oracle", "zaxxer", "fasterxml", "mysql", "mongodb", "datastax", "netflix", "lightbend", "typesafe", "codahale", "squareup",
			"intellij", "ibm", "microsoft", "rabbitmq", "github", "thoughtworks", "android", "twitter", "amazonaws", "azure", "clickhouse",
			"atomikos", "hazelcast", "esotericsoftware", "linecorp", "ning", "opensymphony":
			return true
		case "google":
			third, _ := part(rest, '.')
			switch third {
			case "common", "inject", "protobuf", "gson", "cloud", "api", "android", "firebase", "auth", "apps":
				return true
			}
		}
	case "net":
		return second == "bytebuddy" || second == "sf" || second == "sourceforge" || second == "ttddyy" || second == "javacrumbs"
	case "ch":
		return second == "qos"
	case "software":
		return second == "amazon"
	case "worker":
		return strings.HasPrefix(second, "org")
	case "play":
		return second == "api" || second == "core" || second == "mvc" || second == "utils" || second == "shaded"
	case "graphql":
		return true
	default:
		return true
	}
	return generated(module, function)
}

// generated reports classes that frameworks or the virtual machine make: proxies, lambdas, accessors. Some virtual machines hide them.
func generated(module, function string) bool {
	// "$$anonfun$receive$1" and "$$anon$2" of Scala are functions and classes that a person wrote.
	return strings.Contains(module, "$$") && !strings.Contains(module, "$$anon") || strings.Contains(module, "$Proxy") ||
		strings.HasPrefix(function, "access$") ||
		strings.HasPrefix(module, "_COROUTINE")
}

func dotnetLibrary(module, function string) bool {
	first, _ := part(module, '.')
	switch first {
	case "System", "Microsoft", "Npgsql", "Newtonsoft", "Grpc", "OpenTelemetry", "MediatR", "Polly", "Dapper", "StackExchange", "AutoMapper",
		"Serilog", "Autofac", "Castle", "Hangfire", "MassTransit", "FluentValidation", "Swashbuckle", "MongoDB", "RabbitMQ", "MySql",
		"MySqlConnector", "Azure", "Amazon", "Google", "Elastic", "Elasticsearch", "Confluent", "Quartz", "NServiceBus", "Refit", "RestSharp",
		"Oracle", "NLog", "Moq", "Xunit", "NUnit", "Internal", "Interop", "Mono", "Java", "Android", "Xamarin", "Foundation", "UIKit",
		"Wolverine",
		"HotChocolate", "Orleans", "Akka", "FSharp", "Giraffe", "NHibernate", "Rebus", "Marten", "Stripe":
		return true
	case "":
		return strings.HasPrefix(function, "lambda_method")
	}
	return strings.HasPrefix(module, "DynamicClass") || strings.HasPrefix(module, "Proxies.") || strings.HasPrefix(module, "lambda_method")
}

func scriptLibrary(file, function string) bool {
	switch file {
	case "<anonymous>", "native", "native code", "[native code]", "address at native", "":
		return true
	}
	switch file[0] {
	case 'n':
		if strings.HasPrefix(file, "node:") || strings.HasPrefix(file, "node_modules/") {
			return true
		}
	case 'i':
		if strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "index ") {
			return true
		}
	case 'e':
		if strings.HasPrefix(file, "events.js") || strings.HasPrefix(file, "ext:") {
			return true
		}
	case 'c':
		if strings.HasPrefix(file, "chrome-extension:") {
			return true
		}
	case 'm':
		if strings.HasPrefix(file, "moz-extension:") {
			return true
		}
	case 's':
		if strings.HasPrefix(file, "safari-") {
			return true
		}
	case '_':
		if strings.HasPrefix(file, "_stream_") {
			return true
		}
	case 't':
		if strings.HasPrefix(file, "timers.js") {
			return true
		}
	}
	if strings.Contains(file, "node_modules/") || strings.Contains(file, `node_modules\`) || strings.Contains(file, "/node:internal") ||
		strings.Contains(file, "webpack/") && !strings.HasPrefix(file, "webpack://") || strings.Contains(file, "/webpack/bootstrap") ||
		strings.Contains(file, "/webpack/runtime") || strings.Contains(file, "/.vite/deps/") || strings.Contains(file, "/.yarn/") ||
		strings.Contains(file, "jsr.io/") || strings.Contains(file, "deno.land/") || strings.Contains(file, "/cdn-cgi/") {
		return true
	}
	if function == "__webpack_require__" || function == "__turbopack_require__" {
		return true
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	for _, prefix := range [...]string{
		"vendor", "vendors", "chunk-vendors", "polyfills", "framework", "zone", "jquery", "react-dom",
		"webpack-runtime",
	} {
		if strings.HasPrefix(name, prefix) && len(name) > len(prefix) && !isLetter(name[len(prefix)]) {
			return true
		}
	}
	return false
}

func goLibrary(module, file string) bool {
	if module == "main" {
		return false
	}
	if module == "" || strings.Contains(file, "/pkg/mod/") || strings.Contains(file, "/vendor/") || strings.Contains(file, "@v") {
		return true
	}
	first, rest := part(module, '/')
	switch first {
	case "go.opentelemetry.io", "google.golang.org", "golang.org", "go.uber.org", "vendor", "gopkg.in", "gorm.io", "k8s.io", "sigs.k8s.io":
		return true
	case "runtime", "net", "os", "io", "bufio", "bytes", "context", "crypto", "database", "encoding", "errors", "fmt", "reflect", "sync",
		"syscall", "testing", "time", "log", "internal", "strings", "sort", "slices", "maps", "math", "regexp", "strconv", "text", "html",
		"mime", "archive", "compress", "container", "embed", "expvar", "flag", "go", "hash", "image", "index", "iter", "path", "plugin",
		"unicode", "unsafe", "weak", "unique":
		// A package of the application may have the name of one of the runtime. That of the runtime lies in GOROOT, or has no folder in
		// front with -trimpath.
		return strings.Contains(file, "/go/src/") || strings.Contains(file, "/libexec/src/") || strings.Contains(file, "/sdk/go") ||
			strings.HasPrefix(file, module) || first == "runtime"
	case "github.com":
		owner, _ := part(rest, '/')
		switch owner {
		case "pkg", "gin-gonic", "labstack", "gofiber", "go-chi", "gorilla", "jackc", "lib", "redis", "go-redis", "go-sql-driver", "stretchr",
			"sirupsen", "spf13", "grpc-ecosystem", "aws", "Azure", "hashicorp", "jmoiron", "julienschmidt", "nats-io", "IBM", "Shopify",
			"segmentio", "rs", "uptrace", "cockroachdb", "getsentry", "samber", "panjf2000", "valyala", "urfave", "99designs", "vektah":
			return true
		}
	}
	return false
}

func phpLibrary(module, function, file string) bool {
	if strings.Contains(file, "/vendor/") || strings.HasPrefix(file, "vendor/") || strings.Contains(file, "/wp-includes/") ||
		strings.Contains(file, "/wp-admin/") {
		return true
	}
	if module == "" {
		// Functions of the language have no file of their own.
		return file == "" && !strings.HasPrefix(function, "{")
	}
	first, rest := part(module, '\\')
	switch first {
	case "Drupal": // a module of a site has a name of its own
		return strings.HasPrefix(rest, "Core") || strings.HasPrefix(rest, "Component")
	case "Illuminate", "Symfony", "Doctrine", "GuzzleHttp", "Psr", "Composer", "Laravel", "Slim", "Twig", "PHPUnit", "Monolog", "Predis",
		"Cake", "yii", "Zend", "Laminas", "Carbon", "OpenTelemetry", "League", "Livewire", "Filament", "Spatie", "Magento",
		"PDO", "PDOStatement", "PDOException", "Redis", "mysqli", "mysqli_stmt", "SoapClient", "ReflectionMethod", "ReflectionClass",
		"ReflectionFunction", "Closure", "DateTime", "DateTimeImmutable", "SimpleXMLElement", "SplFileObject", "Generator", "Fiber",
		"MongoDB", "Amp", "React", "Revolt", "Nette", "CodeIgniter", "WP_Hook", "Sentry":
		return true
	}
	return false
}

func rustLibrary(module, function, file string) bool {
	if strings.HasPrefix(file, "/rustc/") || strings.Contains(file, ".cargo/registry/") || strings.Contains(file, "/library/std/") ||
		strings.Contains(file, "/library/core/") || strings.Contains(file, ".cargo/git/") {
		return true
	}
	if module == "" {
		return function != "main" || file == ""
	}
	name := strings.TrimLeft(module, "<&*[")
	for _, word := range [...]string{"dyn ", "mut ", "impl "} {
		name = strings.TrimPrefix(name, word)
	}
	first := name
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			first = name[:i]
			break
		}
	}
	switch first {
	case "core", "std", "alloc", "tokio", "hyper", "hyper_util", "tower", "tower_http", "tower_service", "axum", "axum_core", "actix_web",
		"actix_http",
		"actix_rt", "actix_server", "actix_service", "rocket", "warp", "tonic", "futures", "futures_util", "futures_core", "tracing",
		"tracing_core", "tracing_subscriber", "tracing_opentelemetry", "opentelemetry", "opentelemetry_sdk", "anyhow", "eyre", "color_eyre",
		"sqlx", "sqlx_core", "sqlx_postgres", "diesel", "serde", "serde_json", "reqwest", "rayon", "rayon_core", "crossbeam", "backtrace",
		"color_backtrace", "panic_unwind", "rust_panic", "poem", "sea_orm", "redis", "mio", "h2", "http", "thiserror", "test", "once_cell",
		"parking_lot", "async_std", "smol", "rdkafka", "lambda_runtime", "aws_sdk_s3", "clap", "T", "F", "Box":
		return true
	}
	return false
}

// elixirLibrary reports applications of the runtime and well-known libraries, as their frames have no folder.
func elixirLibrary(app string) bool {
	switch app {
	case "elixir", "stdlib", "kernel", "erts", "ssl", "crypto", "inets", "logger", "ex_unit", "mix", "iex", "eex", "compiler", "mnesia",
		"phoenix",
		"phoenix_live_view", "phoenix_pubsub", "phoenix_html", "phoenix_ecto", "phoenix_template", "plug", "plug_cowboy", "plug_crypto", "ecto",
		"ecto_sql", "db_connection", "postgrex", "myxql", "cowboy", "cowlib", "ranch", "bandit", "thousand_island", "telemetry", "opentelemetry",
		"opentelemetry_api", "opentelemetry_phoenix", "jason", "poison", "oban", "broadway", "gen_stage", "finch", "mint", "tesla", "hackney",
		"httpoison", "req", "nimble_pool", "absinthe", "absinthe_plug", "swoosh", "redix", "decimal", "poolboy":
		return true
	}
	return false
}

// elixirRuntime reports modules of Erlang and Elixir for frames that name no application.
func elixirRuntime(module, file string) bool {
	switch module {
	case "gen_server", "gen_statem", "gen_event", "gen", "proc_lib", "supervisor", "application", "lists", "maps", "erlang", "ets", "dict",
		"timer",
		"cowboy_handler", "cowboy_stream_h", "cowboy_http", "cowboy_http2", "elixir_compiler", "erl_eval", "code", "init", "io", "io_lib",
		"Enum", "Stream", "Task", "Task.Supervised", "GenServer", "Agent", "Map", "Keyword", "String", "Kernel", "Process", "Integer", "List":
		return true
	}
	return strings.HasPrefix(file, "lib/elixir/") || strings.HasPrefix(file, "src/elixir")
}

func swiftLibrary(image, function string) bool {
	if strings.HasPrefix(image, "lib") && strings.HasSuffix(image, ".so") {
		return true // on Linux, the application is an executable
	}
	if strings.HasPrefix(image, "libswift") || strings.HasPrefix(image, "libsystem") || strings.HasPrefix(image, "libdispatch") ||
		strings.HasPrefix(image, "libobjc") || strings.HasPrefix(image, "libc") || strings.HasPrefix(image, "libdyld") ||
		strings.HasPrefix(image, "libFoundation") || strings.HasPrefix(image, "libpthread") {
		return true
	}
	switch image {
	case "UIKit", "UIKitCore", "Foundation", "CoreFoundation", "SwiftUI", "Combine", "GraphicsServices", "QuartzCore", "CFNetwork", "AppKit",
		"dyld",
		"CoreData", "AttributeGraph", "XCTest", "JavaScriptCore", "WebKit", "AVFoundation", "CoreLocation", "Metal", "Alamofire",
		"OpenTelemetrySdk",
		"OpenTelemetryApi", "NIOCore", "NIOPosix", "Vapor", "RxSwift":
		return true
	}
	return strings.HasPrefix(function, "swift_") || strings.HasPrefix(function, "_dispatch_") || strings.HasPrefix(function, "_swift_") ||
		strings.HasPrefix(function, "__libc_start") || function == "start" || function == "_start"
}

func dartLibrary(file string) bool {
	if strings.HasPrefix(file, "dart:") || strings.HasPrefix(file, "org-dartlang-sdk:") || strings.Contains(file, "/.pub-cache/") {
		return true
	}
	name, ok := strings.CutPrefix(file, "package:")
	if !ok {
		return false
	}
	name, _ = part(name, '/')
	switch name {
	case "flutter", "flutter_test", "http", "dio", "provider", "bloc", "flutter_bloc", "riverpod", "flutter_riverpod", "async", "collection",
		"stream_channel", "stack_trace", "test_api", "test", "test_core", "shelf", "shelf_router", "grpc", "rxdart", "get", "hive", "sqflite",
		"firebase_core", "cloud_firestore", "opentelemetry", "go_router", "get_it", "json_annotation", "meta", "path", "web",
		"web_socket_channel":
		return true
	}
	return false
}
