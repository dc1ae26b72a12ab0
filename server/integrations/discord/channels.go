package discord

import (
	"context"
	"errors"
	"math"
	"math/big"
	"net/http"
	"slices"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// permissions are bits that Discord writes as decimal text.
type permissions uint64

const (
	administrator permissions = 1 << 3
	view          permissions = 1 << 10
	send          permissions = 1 << 11
	embedLinks    permissions = 1 << 14
	// readHistory is the permission for an answer to a message. Without it, the message comes without the sign of an answer.
	readHistory permissions = 1 << 16
	everything              = ^permissions(0)

	// needed are the permissions that a channel must give; asked are those that the bot gets when it is added.
	needed = view | send | embedLinks
	asked  = needed | readHistory
)

// UnmarshalText implements encoding.TextUnmarshaler. Bits beyond our integers are of no interest here.
func (p *permissions) UnmarshalText(text []byte) error {
	n, ok := new(big.Int).SetString(string(text), 10)
	if !ok || n.Sign() < 0 || len(text) > 100 {
		return errors.New("permissions must be a number")
	}
	*p = permissions(n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	return nil
}

type guild struct {
	ID, Name string
	OwnerID  string `json:"owner_id"`
	Roles    []struct {
		ID          string
		Permissions permissions
	}
}

type channel struct {
	ID, Name   string
	GuildID    string `json:"guild_id"`
	Type       int
	Overwrites []overwrite `json:"permission_overwrites"`
}

// overwrite changes the permissions of a role or member in a channel. A role and a member never have the same id.
type overwrite struct {
	ID          string
	Allow, Deny permissions
}

// Types of channels that take messages and are offered.
const (
	textChannel         = 0
	announcementChannel = 5
)

// bot is our bot in a guild.
type bot struct {
	guild guild
	user  string
	roles []string
	// base are its permissions before those of a channel.
	base permissions
}

// guild reads a guild of the bot. If the bot is not in the guild, the error is the problem Suspended. Other errors do not mean that.
func (a *App) guild(ctx context.Context, id string) (g guild, err error) {
	err = a.do(ctx, http.MethodGet, nil, &g, "guilds", id)
	var said code
	switch {
	case errors.As(err, &said) && said == 50001:
		return g, gone(err)
	case integrations.IsKind(err, integrations.Forbidden): // of the application or its network, and not of this guild
		return g, integrations.NewProblem(integrations.Upstream, err, "Discord does not let the bot read the server at the moment.")
	}
	return g, err
}

// bot reads the permissions of the bot in the guild of a connection.
func (a *App) bot(ctx context.Context, c integrations.Connection) (bot, error) {
	g, err := a.guild(ctx, c.ExternalID)
	if err != nil {
		return bot{}, err
	}
	var me struct{ ID string }
	if err := a.do(ctx, http.MethodGet, nil, &me, "users", "@me"); err != nil {
		return bot{}, err
	}
	if g.ID != c.ExternalID || !isID(me.ID) {
		return bot{}, integrations.NewProblem(integrations.Upstream, nil, "An answer of Discord cannot be read.")
	}
	var member struct{ Roles []string }
	if err := a.do(ctx, http.MethodGet, nil, &member, "guilds", g.ID, "members", me.ID); err != nil {
		return bot{}, err
	}
	b := bot{guild: g, user: me.ID, roles: member.Roles}
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(b.roles, r.ID) { // the role of everyone has the id of the guild
			b.base |= r.Permissions
		}
	}
	if b.base&administrator != 0 || g.OwnerID == b.user {
		b.base = everything
	}
	return b, nil
}

// may computes what the bot may do in a channel, and whether everyone sees the channel. The order is Discord's: everyone, then all roles
// together, then the member.
func (b bot) may(c channel) (ours permissions, public bool) {
	var everyone, roles, member overwrite
	for _, o := range c.Overwrites {
		switch {
		case o.ID == b.guild.ID:
			everyone = o
		case o.ID == b.user:
			member = o
		case slices.Contains(b.roles, o.ID):
			roles.Allow, roles.Deny = roles.Allow|o.Allow, roles.Deny|o.Deny
		}
	}
	ours = b.base
	if b.base != everything {
		for _, o := range []overwrite{everyone, roles, member} {
			ours = ours&^o.Deny | o.Allow
		}
	}
	for _, r := range b.guild.Roles {
		if r.ID == b.guild.ID {
			public = (r.Permissions&^everyone.Deny|everyone.Allow)&view != 0
		}
	}
	return ours, public
}

// offered describes a channel, if the bot may write to it.
func (b bot) offered(c channel) (store.ChatChannel, bool) {
	ours, public := b.may(c)
	if c.Type != textChannel && c.Type != announcementChannel || ours&needed != needed {
		return store.ChatChannel{}, false
	}
	name := c.Name
	if name == "" {
		name = c.ID
	}
	return store.ChatChannel{ExternalID: c.ID, Name: name, IsPrivate: !public, IsMember: true}, true
}

// Sync implements integrations.Provider: it reads the name of the guild and the complete list of channels to which the bot may write.
// No event reports that a channel was changed, so the next reading is soon.
func (a *App) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	b, err := a.bot(ctx, c)
	if err != nil {
		return integrations.Synced{}, err
	}
	var all []channel
	if err := a.do(ctx, http.MethodGet, nil, &all, "guilds", b.guild.ID, "channels"); err != nil {
		return integrations.Synced{}, err
	}
	out := integrations.Synced{Name: b.guild.Name, Settings: c.Settings, Every: limits.ChatPoll, Channels: []store.ChatChannel{}}
	seen := map[string]bool{}
	for _, one := range all {
		if found, ok := b.offered(one); ok && !seen[one.ID] {
			seen[one.ID] = true
			out.Channels = append(out.Channels, found)
		}
	}
	return out, nil
}

// Channel implements integrations.ChatProvider. The bot sees the channels of all its guilds, so one of another guild is unknown here.
func (a *App) Channel(ctx context.Context, c integrations.Connection, id string) (store.ChatChannel, error) {
	if !isID(id) {
		return store.ChatChannel{}, notFound(nil)
	}
	var one channel
	if err := a.do(ctx, http.MethodGet, nil, &one, "channels", id); err != nil {
		return store.ChatChannel{}, err
	}
	if one.GuildID != c.ExternalID || one.ID != id {
		return store.ChatChannel{}, notFound(nil)
	}
	b, err := a.bot(ctx, c)
	if err != nil {
		return store.ChatChannel{}, err
	}
	found, ok := b.offered(one)
	if !ok {
		return store.ChatChannel{}, notFound(nil)
	}
	return found, nil
}
