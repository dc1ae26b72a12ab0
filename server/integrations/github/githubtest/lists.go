package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

func (h *Hub) installationJSON(i *Installation) map[string]any {
	out := map[string]any{
		"id": i.ID, "app_id": AppID, "app_slug": Slug, "target_type": i.Kind, "repository_selection": i.Selection,
		"account": map[string]any{"login": i.Account, "id": h.accounts[i.Account]}, "permissions": i.Permissions,
		"html_url": fmt.Sprintf("%s/settings/installations/%d", h.URL, i.ID),
	}
	if i.Suspended {
		out["suspended_at"] = "2026-01-01T00:00:00Z"
	}
	return out
}

func (h *Hub) repositoryJSON(r *Repository) map[string]any {
	return map[string]any{
		"id": r.ID, "full_name": r.FullName, "html_url": h.URL + "/" + r.FullName, "private": r.Private, "archived": r.Archived,
		"default_branch": "main",
	}
}

// sees reports whether a person may see an installation.
func (i *Installation) sees(person string) bool {
	return slices.Contains(i.Owners, person) || slices.Contains(i.Readers, person)
}

func (h *Hub) userInstallations(w http.ResponseWriter, _ *http.Request, person string) {
	list := []any{}
	for _, id := range sorted(h.installations) {
		if i := h.installations[id]; i.sees(person) {
			list = append(list, h.installationJSON(i))
		}
	}
	answer(w, map[string]any{"total_count": len(list), "installations": list})
}

func sorted[T any](m map[int64]T) []int64 {
	ids := make([]int64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (h *Hub) userRepositories(w http.ResponseWriter, r *http.Request, person string) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	i := h.installations[id]
	if i == nil || !i.sees(person) {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	list := []any{}
	for _, id := range i.Repositories {
		if repo := h.repositories[id]; repo != nil && (slices.Contains(i.Owners, person) || slices.Contains(repo.Readers, person)) {
			list = append(list, h.repositoryJSON(repo))
		}
	}
	answer(w, map[string]any{"total_count": len(list), "repositories": list})
}

func (h *Hub) membership(w http.ResponseWriter, r *http.Request, person string) {
	for _, i := range h.installations {
		if i.Account != r.PathValue("org") || !i.sees(person) {
			continue
		}
		role := "member"
		if slices.Contains(i.Owners, person) {
			role = "admin"
		}
		answer(w, map[string]any{"state": "active", "role": role})
		return
	}
	refuse(w, http.StatusForbidden, "You do not have permission")
}

// page returns the bounds of a page of a list, as GitHub counts them, and links the next one.
func (h *Hub) page(w http.ResponseWriter, r *http.Request, n, most int) (from, to int) {
	q := r.URL.Query()
	size, _ := strconv.Atoi(q.Get("per_page"))
	page, _ := strconv.Atoi(q.Get("page"))
	size, page = min(max(1, size), most), max(1, page)
	from, to = min((page-1)*size, n), min(page*size, n)
	if to < n {
		q.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, h.URL, r.URL.EscapedPath(), q.Encode()))
	}
	return from, to
}

// listRepositories answers page by page, as GitHub does.
func (h *Hub) listRepositories(w http.ResponseWriter, r *http.Request, i *Installation) {
	from, to := h.page(w, r, len(i.Repositories), 100)
	list := []any{}
	for _, id := range i.Repositories[from:to] {
		list = append(list, h.repositoryJSON(h.repositories[id]))
	}
	answer(w, map[string]any{"total_count": len(i.Repositories), "repositories": list})
}
