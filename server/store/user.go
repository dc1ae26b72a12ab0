package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/user"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// User is a person who signs in.
type User struct {
	ID principal.UserID
	// Email is in lower case.
	Email string
	Name  string
	// PasswordHash is empty when the user has no password.
	PasswordHash string
	// AvatarURL is the picture of the user; nil without one.
	AvatarURL *string
	CreatedAt time.Time
}

// NewUser is a user to create. Email addresses are compared case-insensitively.
type NewUser struct {
	Email        string
	Name         string
	PasswordHash string
}

// CreateUser creates a user. It returns ErrConflict if the email address is taken.
func (s *Store) CreateUser(ctx context.Context, in NewUser) (User, error) {
	var out User
	err := s.tx(ctx, "create user", func(tx *ent.Tx) (err error) {
		out, err = s.createUser(ctx, tx, in)
		return err
	})
	return out, err
}

func (s *Store) createUser(ctx context.Context, tx *ent.Tx, in NewUser) (User, error) {
	email := normalEmail(in.Email)
	taken, err := tx.User.Query().Where(user.Email(email)).Exist(ctx)
	if err != nil {
		return User{}, err
	}
	if taken {
		return User{}, errEmailTaken
	}
	id, err := uuid.NewV7()
	if err != nil {
		return User{}, err
	}
	row, err := tx.User.Create().SetID(publicid.Encode("user", id)).SetEmail(email).SetName(in.Name).
		SetPasswordHash(in.PasswordHash).SetCreatedAt(s.stamp()).Save(ctx)
	if err != nil {
		return User{}, err
	}
	return toUser(row), nil
}

// GetUser returns a user by id.
func (s *Store) GetUser(ctx context.Context, id principal.UserID) (User, error) {
	u, err := getUser(ctx, s.read.User, id)
	if err != nil {
		return User{}, mapError("get user", err)
	}
	return u, nil
}

func getUser(ctx context.Context, c *ent.UserClient, id principal.UserID) (User, error) {
	row, err := c.Get(ctx, string(id))
	if err != nil {
		return User{}, err
	}
	return toUser(row), nil
}

// UserByEmail returns a user by email address, compared case-insensitively.
func (s *Store) UserByEmail(ctx context.Context, email string) (User, error) {
	row, err := s.read.User.Query().Where(user.Email(normalEmail(email))).Only(ctx)
	return single("find user", toUser, row, err)
}

// SetUserAvatar stores the picture of a user; an empty text removes it. It returns ErrNotFound if there is no such user.
func (s *Store) SetUserAvatar(ctx context.Context, id principal.UserID, url string) error {
	return s.tx(ctx, "set the picture of a user", func(tx *ent.Tx) error {
		u := tx.User.UpdateOneID(string(id))
		if url == "" {
			u.ClearAvatarURL()
		} else {
			u.SetAvatarURL(url)
		}
		return u.Exec(ctx)
	})
}

func toUser(row *ent.User) User {
	return User{
		ID: principal.UserID(row.ID), Email: row.Email, Name: row.Name, PasswordHash: row.PasswordHash, AvatarURL: row.AvatarURL,
		CreatedAt: utc(row.CreatedAt),
	}
}
