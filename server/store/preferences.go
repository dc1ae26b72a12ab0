package store

import (
	"context"
	"strings"
	"time"
	_ "time/tzdata" // a machine may lack the folder of zones

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/preferences"
	"github.com/svc-observability/svc/server/principal"
)

// Preferences are settings of a user for the web application. UpdatedAt is nil if none was ever set.
type Preferences struct {
	Theme, StackTrace, TimeZone string
	UpdatedAt                   *time.Time
}

// PreferencesEdit is a partial update.
type PreferencesEdit struct{ Theme, StackTrace, TimeZone Patch[string] }

// Themes are the choices of a theme. The first is the default.
func Themes() []preferences.Theme {
	return []preferences.Theme{preferences.ThemeSystem, preferences.ThemeLight, preferences.ThemeDark}
}

// StackTraces are the forms in which a stack trace is shown. The first is the default.
func StackTraces() []preferences.StackTrace {
	return []preferences.StackTrace{preferences.StackTracePretty, preferences.StackTraceRaw}
}

// BrowserZone stands for the time zone of the device. It is the default.
const BrowserZone = "browser"

// timeZone checks a name of the tz database. A program with its own folder of zones may know names that start with posix or right: no
// browser knows them.
func (c *checker) timeZone(field, name string) {
	if name == BrowserZone {
		return
	}
	_, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		c.fail(field, `must be "browser" or a name of the tz database, such as Europe/Berlin, not %q`, name)
	}
}

// UserPreferences returns the preferences of a user, with the default of each that was never set.
func (s *Store) UserPreferences(ctx context.Context, user principal.UserID) (Preferences, error) {
	row, err := s.read.Preferences.Query().Where(preferences.UserID(string(user))).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return Preferences{}, mapError("get preferences", err)
	}
	return toPreferences(row), nil
}

// EditPreferences changes the preferences that the edit sets. It returns ErrNotFound if there is no such user. The audit log belongs to an
// organization, so it has no entry of them.
func (s *Store) EditPreferences(ctx context.Context, user principal.UserID, edit PreferencesEdit) (r Preferences, err error) {
	err = s.tx(ctx, "edit preferences", func(tx *ent.Tx) error {
		// Two browsers may set the first preference of the user at once.
		if err := s.lockRow(ctx, tx, "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE", string(user)); err != nil {
			return err
		}
		row, err := tx.Preferences.Query().Where(preferences.UserID(string(user))).Only(ctx)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		r = toPreferences(row)
		edit.Theme.apply(&r.Theme)
		edit.StackTrace.apply(&r.StackTrace)
		edit.TimeZone.apply(&r.TimeZone)
		var c checker
		choice(&c, "theme", preferences.Theme(r.Theme), Themes())
		choice(&c, "stack_trace", preferences.StackTrace(r.StackTrace), StackTraces())
		c.timeZone("time_zone", r.TimeZone)
		if err := c.err(); err != nil {
			return err
		}
		r.UpdatedAt = new(s.stamp())
		if row == nil {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			return tx.Preferences.Create().SetID(id).SetUserID(string(user)).SetTheme(preferences.Theme(r.Theme)).
				SetStackTrace(preferences.StackTrace(r.StackTrace)).SetTimeZone(r.TimeZone).SetUpdatedAt(*r.UpdatedAt).Exec(ctx)
		}
		return row.Update().SetTheme(preferences.Theme(r.Theme)).SetStackTrace(preferences.StackTrace(r.StackTrace)).
			SetTimeZone(r.TimeZone).SetUpdatedAt(*r.UpdatedAt).Exec(ctx)
	})
	return r, err
}

func toPreferences(row *ent.Preferences) Preferences {
	if row == nil {
		return Preferences{Theme: string(Themes()[0]), StackTrace: string(StackTraces()[0]), TimeZone: BrowserZone}
	}
	return Preferences{
		Theme: string(row.Theme), StackTrace: string(row.StackTrace), TimeZone: row.TimeZone, UpdatedAt: new(utc(row.UpdatedAt)),
	}
}
