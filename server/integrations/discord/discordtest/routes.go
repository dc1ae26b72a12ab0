package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

type object = map[string]any

// reply is a status with a body.
type reply struct {
	status int
	body   any
}

// mux are the pages and routes of Discord.
func (d *Discord) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth2/authorize", d.consent)
	mux.HandleFunc("POST /api/v10/oauth2/token", d.route("token", d.token))
	for pattern, r := range map[string]struct {
		name   string
		answer func(*http.Request) reply
	}{
		"GET /api/v10/users/@me":                          {"me", d.me},
		"GET /api/v10/guilds/{guild}":                     {"guild", d.ofGuild(d.readGuild)},
		"GET /api/v10/guilds/{guild}/members/{user}":      {"member", d.ofGuild(d.member)},
		"GET /api/v10/guilds/{guild}/channels":            {"channels", d.ofGuild(d.channels)},
		"GET /api/v10/channels/{channel}":                 {"channel", d.ofChannel(d.channel)},
		"POST /api/v10/channels/{channel}/messages":       {"post", d.ofChannel(d.post)},
		"PATCH /api/v10/channels/{channel}/messages/{id}": {"edit", d.ofChannel(d.edit)},
		"DELETE /api/v10/users/@me/guilds/{guild}":        {"leave", d.ofGuild(d.leave)},
	} {
		mux.HandleFunc(pattern, d.route(r.name, d.asBot(r.answer)))
	}
	return mux
}

// consent is the page on which a person agrees: it adds the bot and sends the browser back at once.
func (d *Discord) consent(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ApplicationID || q.Get("response_type") != "code" || !strings.Contains(q.Get("scope"), "bot") {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	said := url.Values{"state": {q.Get("state")}}
	if d.deny {
		said.Set("error", "access_denied")
	} else {
		granted, _ := strconv.ParseUint(q.Get("permissions"), 10, 64)
		d.guilds[d.guild].Bot, d.guilds[d.guild].In = granted, true
		d.next++
		text := fmt.Sprintf("code-%d", d.next)
		d.codes[text] = code{d.guild, q.Get("redirect_uri"), q.Get("permissions")}
		said.Set("code", text)
		said.Set("guild_id", d.guild)
		said.Set("permissions", q.Get("permissions"))
	}
	back.RawQuery = said.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func refuse(status, code int) reply {
	if code == refusedImage {
		return reply{http.StatusBadRequest, object{
			"code": 50035, "message": "Invalid Form Body", "errors": object{"embeds": object{"0": object{"image": object{"url": object{
				"_errors": []object{{"code": "URL_TYPE_INVALID_URL", "message": "Not a well formed URL."}},
			}}}}},
		}}
	}
	return reply{status, object{"code": code, "message": "a text of Discord"}}
}

// statusOf is the status of a code of the API.
func statusOf(code int) int {
	switch {
	case code/1000 == 10:
		return http.StatusNotFound
	case code == 50001, code == 50013, code == 40002:
		return http.StatusForbidden
	}
	return http.StatusBadRequest
}

// route answers with the headers of the limit of the rate.
func (d *Discord) route(name string, of func(*http.Request) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls[name]++
		fault := ""
		if d.fault != nil {
			fault = d.fault(name)
		}
		var out reply
		n, _ := strconv.Atoi(fault)
		if fault == "image" {
			n = refusedImage
		}
		switch {
		case !strings.HasPrefix(r.UserAgent(), "DiscordBot (https://"):
			w.WriteHeader(http.StatusForbidden) // the network in front of the API refuses it, not with JSON
			return
		case n == http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "2")
			out = reply{n, object{"message": "You are being rate limited.", "retry_after": 1.337, "global": false}}
		case n > 1000:
			out = refuse(statusOf(n), n)
		case n > 0:
			out = reply{n, object{"message": "a text of Discord", "code": 0}}
		default:
			out = of(r)
		}
		if name == "post" && out.status == http.StatusOK && d.lost > 0 {
			d.lost--
			panic(http.ErrAbortHandler)
		}
		h := w.Header()
		h.Set("X-RateLimit-Limit", "5")
		h.Set("X-RateLimit-Remaining", "4")
		h.Set("X-RateLimit-Reset-After", "1.000")
		h.Set("X-RateLimit-Bucket", name)
		h.Set("Content-Type", "application/json")
		w.WriteHeader(out.status)
		if out.body != nil {
			_ = json.NewEncoder(w).Encode(out.body)
		}
	}
}

// asBot checks the token of the bot.
func (d *Discord) asBot(of func(*http.Request) reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		if r.Header.Get("Authorization") != "Bot "+BotToken {
			return reply{http.StatusUnauthorized, object{"message": "401: Unauthorized", "code": 0}}
		}
		return of(r)
	}
}

func (d *Discord) token(r *http.Request) reply {
	id, secret, _ := r.BasicAuth()
	if id != ApplicationID || secret != ClientSecret {
		return reply{http.StatusUnauthorized, object{"error": "invalid_client"}}
	}
	_ = r.ParseForm()
	c, ok := d.codes[r.PostForm.Get("code")]
	if !ok || r.PostForm.Get("grant_type") != "authorization_code" || c.redirectURI != r.PostForm.Get("redirect_uri") {
		return reply{http.StatusBadRequest, object{"error": "invalid_grant", "error_description": "a text of Discord"}}
	}
	delete(d.codes, r.PostForm.Get("code"))
	d.next++
	d.tokens = append(d.tokens, fmt.Sprintf("person-token-%d", d.next), fmt.Sprintf("person-refresh-%d", d.next))
	out := object{
		"access_token": d.tokens[len(d.tokens)-2], "refresh_token": d.tokens[len(d.tokens)-1], "token_type": "Bearer", "expires_in": 604800,
		"scope": "identify bot",
	}
	if g := d.guilds[c.guild]; g.In {
		out["guild"] = object{"id": g.ID, "name": g.Name, "owner_id": "330000000000000000"}
	}
	return reply{http.StatusOK, out}
}

func (d *Discord) me(*http.Request) reply {
	return reply{http.StatusOK, object{"id": bot, "username": "svc", "bot": true}}
}

// ofGuild finds the guild of a request. One without the bot is known, but not shown.
func (d *Discord) ofGuild(of func(*http.Request, *Guild) reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		g := d.guilds[r.PathValue("guild")]
		switch {
		case g == nil:
			return refuse(http.StatusNotFound, 10004)
		case !g.In:
			return refuse(http.StatusForbidden, 50001)
		}
		return of(r, g)
	}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func (d *Discord) readGuild(_ *http.Request, g *Guild) reply {
	return reply{http.StatusOK, object{
		"id": g.ID, "name": g.Name, "owner_id": "330000000000000000", "roles": []object{
			{"id": g.ID, "name": "@everyone", "permissions": decimal(g.Everyone)},
			{"id": g.role(), "name": "svc", "permissions": decimal(g.Bot)},
			{"id": "440000000000000000", "name": "not the bot's", "permissions": decimal(Administrator)},
		},
	}}
}

func (d *Discord) member(r *http.Request, g *Guild) reply {
	if r.PathValue("user") != bot {
		return refuse(http.StatusNotFound, 10007)
	}
	return reply{http.StatusOK, object{"user": object{"id": bot}, "roles": []string{g.role()}}}
}

func (c *Channel) json(g *Guild) object {
	overwrites := []object{}
	for _, o := range c.Overwrites {
		id, kind := map[string]string{"everyone": g.ID, "role": g.role(), "member": bot}[o.Of], 0
		if o.Of == "member" {
			kind = 1
		}
		overwrites = append(overwrites, object{"id": id, "type": kind, "allow": decimal(o.Allow), "deny": decimal(o.Deny)})
	}
	return object{"id": c.ID, "guild_id": g.ID, "name": c.Name, "type": c.Type, "permission_overwrites": overwrites}
}

// channels lists all channels: Discord shows a bot also those that it may not see.
func (d *Discord) channels(_ *http.Request, g *Guild) reply {
	out := []object{}
	for _, c := range g.Channels {
		out = append(out, c.json(g))
	}
	return reply{http.StatusOK, out}
}

// may reports whether the bot has permissions in a channel.
func (g *Guild) may(c *Channel, want uint64) bool {
	have := g.Everyone | g.Bot
	if have&Administrator != 0 {
		return true
	}
	for _, of := range []string{"everyone", "role", "member"} {
		for _, o := range c.Overwrites {
			if o.Of == of {
				have = have&^o.Deny | o.Allow
			}
		}
	}
	return have&View != 0 && have&want == want
}

// ofChannel finds the channel of a request.
func (d *Discord) ofChannel(of func(*http.Request, *Guild, *Channel) reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		for _, g := range d.guilds {
			for _, c := range g.Channels {
				switch {
				case c.ID != r.PathValue("channel"):
				case !g.In || !g.may(c, View):
					return refuse(http.StatusForbidden, 50001)
				default:
					return of(r, g, c)
				}
			}
		}
		return refuse(http.StatusNotFound, 10003)
	}
}

func (d *Discord) channel(_ *http.Request, g *Guild, c *Channel) reply {
	return reply{http.StatusOK, c.json(g)}
}

func (d *Discord) leave(_ *http.Request, g *Guild) reply {
	g.In = false
	return reply{status: http.StatusNoContent}
}
