package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/processors"
)

// Passwords hashes and checks passwords with argon2id. Each computation takes tens of MiB, so few run at once and the others
// wait. It is safe for concurrent use.
type Passwords struct {
	memory, time uint32 // memory in KiB
	slots        chan struct{}
	waiting      [rooms]atomic.Int32
	dummy        string
}

const (
	passwordMemory  = 64 << 10
	passwordTime    = 2
	passwordThreads = 1
	// passwordSlots is the largest number of computations at once on any machine. passwordQueue is the number of checks that may
	// wait in each room.
	passwordSlots = 4
	passwordQueue = 16
	saltLength    = 16
	tagLength     = 32
	// These bounds limit the work that a stored hash can demand.
	maxPasswordMemory = 256 << 10
	maxPasswordTime   = 16
)

// Room is where a check waits while others compute. A flood fills one room and leaves the other.
type Room int

// Rooms.
const (
	Anybody Room = iota
	// Familiar is for addresses from which the account has signed in before.
	Familiar
	rooms
)

// MaxPasswordLength bounds the input in bytes.
const MaxPasswordLength = limits.MaxPasswordBytes

// MinPasswordLength is the least number of characters of a new password.
const MinPasswordLength = limits.MinPasswordLength

// ErrPasswordTooLong means that the password is longer than MaxPasswordLength.
var ErrPasswordTooLong = fmt.Errorf("the password is longer than %d bytes", MaxPasswordLength)

// ErrPasswordsBusy means that too many checks wait already: another one would wait in vain.
var ErrPasswordsBusy = errors.New("too many passwords are being checked")

// NewPasswords returns Passwords with 64 MiB and 2 passes, which is above the first choice of OWASP. At most half of the
// processors compute at once, so that a flood of sign-ins leaves the other half to all other work.
func NewPasswords() *Passwords {
	if cheap.Load() {
		return newPasswords(8, 1)
	}
	return newPasswords(passwordMemory, passwordTime)
}

// cheap makes new hashes almost free.
var cheap atomic.Bool

// HashCheaply makes new hashes of passwords in this process cost microseconds, so that they can be guessed. Only tests that start many
// servers call it.
func HashCheaply() { cheap.Store(true) }

func newPasswords(memory, time uint32) *Passwords {
	p := &Passwords{memory: memory, time: time, slots: make(chan struct{}, min(passwordSlots, max(1, processors.Count()/2)))}
	// Its tag is random: no password matches it, and checking one takes the usual time.
	p.dummy = p.format(random(saltLength), random(tagLength))
	return p
}

// HashPassword is NewPasswords().Hash, for commands that hash one password.
func HashPassword(ctx context.Context, password string) (string, error) {
	return NewPasswords().Hash(ctx, password)
}

// Hash returns the PHC string of a password. It fails only when ctx ends or the password is too long.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if len(password) > MaxPasswordLength {
		return "", ErrPasswordTooLong
	}
	salt := random(saltLength)
	tag, err := p.derive(ctx, password, salt, p.time, p.memory, passwordThreads, tagLength, Familiar)
	if err != nil {
		return "", err
	}
	return p.format(salt, tag), nil
}

// New hashes a password that a person chose. param is the field that a refusal names. The error is always an *apierr.Error.
func (p *Passwords) New(ctx context.Context, password, param string) (string, error) {
	if utf8.RuneCountInString(password) < MinPasswordLength {
		return "", apierr.New(apierr.InvalidRequest, fmt.Sprintf("`%s` must have at least %d characters.", param, MinPasswordLength),
			apierr.Param(param))
	}
	hash, err := p.Hash(ctx, password)
	switch {
	case errors.Is(err, ErrPasswordTooLong):
		return "", apierr.New(apierr.InvalidRequest, fmt.Sprintf("`%s` must have at most %d bytes.", param, MaxPasswordLength),
			apierr.Param(param))
	case errors.Is(err, ErrPasswordsBusy):
		return "", errBusy()
	case err != nil:
		return "", signInUnavailable(ctx, err)
	}
	return hash, nil
}

// Verify reports whether the password belongs to the PHC string. An empty string stands for a user who does not exist or has no
// password. It takes as long as a wrong password. An error means that the check could not be made.
func (p *Passwords) Verify(ctx context.Context, phc, password string, room Room) (bool, error) {
	if len(password) > MaxPasswordLength {
		return false, nil
	}
	if phc == "" {
		phc = p.dummy
	}
	h, err := parsePHC(phc)
	if err != nil {
		return false, err
	}
	tag, err := p.derive(ctx, password, h.salt, h.time, h.memory, h.threads, uint32(len(h.tag)), room)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(tag, h.tag) == 1, nil
}

func (p *Passwords) derive(
	ctx context.Context, password string, salt []byte, time, memory uint32, threads uint8, length uint32, room Room,
) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		if err := p.wait(ctx, room); err != nil {
			return nil, err
		}
	}
	defer func() { <-p.slots }()
	return argon2.IDKey([]byte(password), salt, time, memory, threads, length), nil
}

// wait waits until a slot is free and takes it.
func (p *Passwords) wait(ctx context.Context, room Room) error {
	defer p.waiting[room].Add(-1)
	if p.waiting[room].Add(1) > passwordQueue {
		return ErrPasswordsBusy
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("auth: wait to check a password: %w", ctx.Err())
	}
}

func (p *Passwords) format(salt, tag []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, passwordThreads, b64.EncodeToString(salt),
		b64.EncodeToString(tag))
}

type phcHash struct {
	memory, time uint32
	threads      uint8
	salt, tag    []byte
}

// errPHC does not quote the hash.
var errPHC = errors.New("auth: a stored password hash is damaged or of an unknown kind")

func parsePHC(s string) (h phcHash, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, errPHC
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads); err != nil || n != 3 {
		return h, errPHC
	}
	var serr, terr error
	h.salt, serr = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.tag, terr = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if serr != nil || terr != nil || len(h.salt) < 8 || len(h.tag) < 16 || len(h.tag) > 128 ||
		h.threads == 0 || h.time == 0 || h.time > maxPasswordTime || h.memory == 0 || h.memory > maxPasswordMemory {
		return h, errPHC
	}
	return h, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: the program ends instead
	return b
}
