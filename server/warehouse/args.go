package warehouse

import (
	"database/sql"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Arg is a value for a {name:Type} placeholder of a statement.
type Arg struct {
	Name  string
	Value any
}

// Named makes an Arg. The value is a string, a number, a bool, a time.Time (for DateTime64(9)) or a slice of these.
func Named(name string, value any) Arg { return Arg{Name: name, Value: value} }

const timeFormat = "2006-01-02 15:04:05.000000000"

func formatArgs(args []Arg) (clickhouse.Parameters, error) {
	params := clickhouse.Parameters{}
	for _, a := range args {
		if _, twice := params[a.Name]; twice {
			return nil, fmt.Errorf("warehouse query: argument %q is given twice", a.Name)
		}
		text, err := formatValue(a.Value)
		if err != nil {
			return nil, fmt.Errorf("warehouse query: argument %q: %w", a.Name, err)
		}
		if reflect.ValueOf(a.Value).Kind() != reflect.Slice {
			text = escapeText(text) // ClickHouse only removes the quotes of an array's strings, so no escaping here
		}
		params[a.Name] = text
	}
	return params, nil
}

// escapeText writes a value as ClickHouse reads a parameter: as a field of tab-separated text.
func escapeText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\b", `\b`, "\f", `\f`).Replace(s)
}

func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(s) + "'"
}

func formatValue(value any) (string, error) {
	if t, ok := value.(time.Time); ok {
		return t.UTC().Format(timeFormat), nil
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), nil
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			item := v.Index(i)
			text, err := formatValue(item.Interface())
			if err != nil {
				return "", err
			}
			if _, isTime := item.Interface().(time.Time); isTime || item.Kind() == reflect.String {
				text = quoteText(text)
			}
			items[i] = text
		}
		return "[" + strings.Join(items, ",") + "]", nil
	default:
		return "", fmt.Errorf("a %T cannot be a query argument", value)
	}
}

// one scans the only row.
func (r *Rows) one(dest ...any) error {
	defer func() { _ = r.Close() }()
	if !r.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.Scan(dest...); err != nil {
		return err
	}
	return r.Close()
}
