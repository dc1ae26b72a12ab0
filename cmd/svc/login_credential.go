package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/limits"
)

// credential is the data that svc login stores.
type credential struct {
	URL          string     `json:"url"`
	Token        string     `json:"token"`
	KeyID        string     `json:"key_id"`
	KeyPrefix    string     `json:"key_prefix"`
	ExpiresAt    time.Time  `json:"expires_at"`
	User         account    `json:"user"`
	Organization membership `json:"organization"`
}

// account is a user, as the API shows it.
type account struct {
	ID    string  `json:"id"`
	Email string  `json:"email"`
	Name  *string `json:"name"`
}

// membership is an organization with the role of the caller in it.
type membership struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// credentialFile returns the path of the file with the login of this user.
func (c *cli) credentialFile() (string, error) {
	for _, pair := range c.environ {
		if dir, ok := strings.CutPrefix(pair, "XDG_CONFIG_HOME="); ok && filepath.IsAbs(dir) {
			return filepath.Join(dir, "svc", "login.json"), nil
		}
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("this user has no configuration folder: %w", err)
	}
	return filepath.Join(dir, "svc", "login.json"), nil
}

// errNotLoggedIn says how to log in.
var errNotLoggedIn = errors.New("this command line is not logged in: run 'svc login'")

// readCredential reads the login. It refuses a file that other users can read.
func readCredential(path string) (credential, error) {
	info, err := os.Stat(path)
	if err != nil {
		return credential{}, fmt.Errorf("read the login: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return credential{}, fmt.Errorf(
			"%s can be read by other users (mode %#o): run chmod 600 on it, and 'svc login' again if that may have happened",
			path,
			mode,
		)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return credential{}, fmt.Errorf("read the login: %w", err)
	}
	var out credential
	if err := json.Unmarshal(text, &out); err != nil {
		return credential{}, fmt.Errorf("'svc login' did not write %s in this form; remove the file: %w", path, err)
	}
	return out, nil
}

// prepareFolder makes the folder of the login and checks that it is writable.
func prepareFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".login-*")
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// write stores the login, all or nothing. From the start only this user can read the file.
func (k credential) write(path string) (err error) {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".login-*") // mode 0600
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	_, werr := f.Write(append(text, '\n'))
	if err = errors.Join(werr, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("keep the login: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// apiCall makes one REST call and decodes the answer; into may be nil.
func apiCall(ctx context.Context, method, address, token string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, limits.CallTime)
	defer cancel()
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := call(req)
	if err != nil || into == nil {
		return err
	}
	// The server may be newer than this program, and send fields that the program does not know.
	decode := json.Unmarshal
	if m, ok := into.(proto.Message); ok {
		decode = func(text []byte, _ any) error {
			return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, m)
		}
	}
	if err := decode(answer, into); err != nil {
		return fmt.Errorf("the answer to %s %s is not JSON of svc: %w", method, address, err)
	}
	return nil
}
