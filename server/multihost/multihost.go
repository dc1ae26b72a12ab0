// Package multihost reads URLs that name several hosts, as database drivers write them:
// clickhouse://user:password@a:8123,b:8123/database. Package net/url refuses such a list in
// some schemes.
package multihost

import (
	"errors"
	"net/url"
	"strings"
)

// ErrURL says that the text is not a URL. It does not repeat the text, which may hold a password.
var ErrURL = errors.New("not a URL")

// Parse reads a URL and its hosts. Host of the URL is the whole list, as it was written. A host is written as in a URL with one host:
// a port may follow its name, and an IPv6 address is in brackets.
func Parse(raw string) (*url.URL, []*url.URL, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	user := strings.LastIndexByte(rest[:end], '@') + 1
	list := strings.Split(rest[user:end], ",")
	if !ok || len(list) == 1 {
		u, err := url.Parse(raw)
		if err != nil {
			return nil, nil, ErrURL
		}
		return u, []*url.URL{{Scheme: u.Scheme, Host: u.Host}}, nil
	}
	u, err := url.Parse(scheme + "://" + rest[:user] + list[0] + rest[end:])
	if err != nil {
		return nil, nil, ErrURL
	}
	hosts := make([]*url.URL, len(list))
	for i, text := range list {
		// Package net/url looks for a second port only in some schemes.
		twoPorts := strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[")
		if hosts[i], err = url.Parse(scheme + "://" + text); err != nil || hosts[i].Hostname() == "" || twoPorts {
			return nil, nil, ErrURL
		}
	}
	u.Host = rest[user:end]
	return u, hosts, nil
}
