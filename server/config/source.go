package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// delimiter separates levels of nested keys; ours have one level, so a nested key of a file shows up as unknown, by its path.
const delimiter = "."

// resolved is the text of one key with its origin.
type resolved struct {
	text   string
	source Source
}

// layer holds the keys of one source.
type layer struct {
	values  *koanf.Koanf
	sources map[string]Source
}

// merge lays the sources over each other; a later one wins key by key.
func merge(src Sources) (map[string]resolved, error) {
	defaults, err := defaultLayer()
	if err != nil {
		return nil, err
	}
	layers := []layer{defaults}
	var problems []error
	add := func(l layer, err error) {
		if err != nil {
			problems = append(problems, err)
			return
		}
		layers = append(layers, l)
	}
	if path := configPath(src); path != "" {
		add(fileLayer(path))
	}
	add(envLayer(src.Environ))
	add(flagLayer(src.Flags))
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}

	merged := koanf.New(delimiter)
	sources := map[string]Source{}
	for _, l := range layers {
		if err := merged.Merge(l.values); err != nil {
			return nil, fmt.Errorf("merge configuration: %w", err)
		}
		for key, source := range l.sources {
			sources[key] = source
		}
	}
	out := make(map[string]resolved, len(sources))
	for _, key := range Keys() {
		out[key.Name] = resolved{text: merged.String(key.Name), source: sources[key.Name]}
	}
	return out, nil
}

func configPath(src Sources) string {
	if src.File != "" {
		return src.File
	}
	for _, pair := range src.Environ {
		if value, ok := strings.CutPrefix(pair, envConfigFile+"="); ok {
			return value
		}
	}
	return ""
}

func defaultLayer() (layer, error) {
	values, sources := map[string]any{}, map[string]Source{}
	for _, key := range Keys() {
		values[key.Name], sources[key.Name] = key.Default, sourceDefault
	}
	return newLayer(values, sources)
}

func newLayer(values map[string]any, sources map[string]Source) (layer, error) {
	k := koanf.New(delimiter)
	err := k.Load(confmap.Provider(values, ""), nil)
	return layer{values: k, sources: sources}, err
}

// fileLayer reads the YAML file. Numbers and booleans count as their text, a list as its comma-separated items.
func fileLayer(path string) (layer, error) {
	k := koanf.New(delimiter)
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return layer{}, &Error{Source: fromFile(path), Reason: err.Error()}
	}
	values, sources := map[string]any{}, map[string]Source{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(k.All())) {
		if !slices.Contains(names(), name) {
			problems = append(problems, unknown(name, fromFile(path), names()))
			continue
		}
		text, ok := scalar(k.Get(name))
		if !ok {
			problems = append(problems, &Error{Key: name, Source: fromFile(path), Reason: "the value must be text, a number or a list of these"})
			continue
		}
		values[name], sources[name] = text, fromFile(path)
	}
	if len(problems) > 0 {
		return layer{}, errors.Join(problems...)
	}
	return newLayer(values, sources)
}

func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case nil: // `key:` with nothing after it
		return "", true
	case string:
		return v, true
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), true
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, ok := scalar(item)
			if _, nested := item.([]any); nested || !ok {
				return "", false
			}
			items[i] = text
		}
		return strings.Join(items, ","), true
	}
	return "", false
}

// envLayer takes the SVC_ variables. VARIABLE_FILE, for secrets, names a file that holds the value.
func envLayer(environ []string) (layer, error) {
	k := koanf.New(delimiter)
	provider := env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(variable, value string) (string, any) {
			if strings.HasPrefix(variable, envTestPrefix) || variable == envConfigFile || slices.Contains(OtherVariables(), variable) {
				return "", nil
			}
			return variable, value
		},
	})
	if err := k.Load(provider, nil); err != nil {
		return layer{}, fmt.Errorf("read environment: %w", err)
	}
	byVariable := map[string]Key{}
	var candidates []string
	for _, key := range Keys() {
		byVariable[key.Env()] = key
		candidates = append(candidates, key.Env())
		if key.Secret() {
			candidates = append(candidates, key.Env()+envFileSuffix)
		}
	}
	values, sources := map[string]any{}, map[string]Source{}
	var problems []error
	for _, variable := range slices.Sorted(maps.Keys(k.All())) {
		key, ok := byVariable[variable]
		if ok {
			values[key.Name], sources[key.Name] = k.String(variable), fromEnv(variable)
			continue
		}
		key, ok = byVariable[strings.TrimSuffix(variable, envFileSuffix)]
		if !ok || !key.Secret() {
			problems = append(problems, unknown(variable, "environment", candidates))
			continue
		}
		if _, both := values[key.Name]; both {
			problems = append(problems, &Error{Key: key.Name, Source: fromEnv(variable), Reason: key.Env() + " is set as well; set one of them"})
			continue
		}
		content, err := os.ReadFile(k.String(variable))
		if err != nil {
			problems = append(problems, &Error{Key: key.Name, Source: fromEnv(variable), Reason: err.Error()})
			continue
		}
		values[key.Name], sources[key.Name] = key.fileValue(string(content)), fromEnv(variable)
	}
	if len(problems) > 0 {
		return layer{}, errors.Join(problems...)
	}
	return newLayer(values, sources)
}

// fileValue is the value in a file: its first line, or for a key in the PEM format the whole text.
func (k Key) fileValue(content string) string {
	if k.Kind == KindPEM {
		return strings.TrimSpace(content)
	}
	line, _, _ := strings.Cut(content, "\n")
	return strings.TrimRight(line, "\r")
}

// flagLayer takes the flags that were given. An unknown flag never gets here: the command line parser refuses it.
func flagLayer(flags *pflag.FlagSet) (layer, error) {
	values, sources := map[string]any{}, map[string]Source{}
	if flags != nil {
		for _, key := range Keys() {
			if f := flags.Lookup(key.Name); f != nil && f.Changed {
				values[key.Name], sources[key.Name] = f.Value.String(), fromFlag(key)
			}
		}
	}
	return newLayer(values, sources)
}

func names() []string {
	var out []string
	for _, key := range Keys() {
		out = append(out, key.Name)
	}
	return out
}
