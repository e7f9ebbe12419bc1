package serve

import (
	"context"
	"net/http"
	"net/url"

	"github.com/locket-dev/locket/memory"
)

// MaxPackage is how many bytes a request to install a plugin may have: a
// module of 8 MiB in base64, and the rest.
const MaxPackage = 12 << 20

func (h *handler) plugins(r *http.Request) (any, error) {
	list, err := h.Service.Plugins(r.Context())
	return PluginsAnswer{notNil(list)}, err
}

func (h *handler) plugin(r *http.Request) (any, error) {
	return h.Service.Plugin(r.Context(), r.PathValue("plugin"))
}

// installPlugin has a limit of its own on the body.
func (h *handler) installPlugin(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, MaxPackage)
	var req InstallPluginRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	made, err := h.Service.InstallPlugin(r.Context(), req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil
}

// planPlugin takes the same body as installPlugin.
func (h *handler) planPlugin(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, MaxPackage)
	var req InstallPluginRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	plan, err := h.Service.PlanPlugin(r.Context(), req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, "application/json", plan)
	return nil
}

func (h *handler) unpinPlugin(r *http.Request) (any, error) {
	id := r.PathValue("plugin")
	return UnpinnedPlugin{id}, h.Service.UnpinPlugin(r.Context(), id)
}

func (h *handler) enablePlugin(r *http.Request) (any, error) {
	var req EnablePluginRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	return h.Service.EnablePlugin(r.Context(), r.PathValue("plugin"), req.Enabled)
}

func (h *handler) removePlugin(r *http.Request) (any, error) {
	id := r.PathValue("plugin")
	return RemovedPlugin{id}, h.Service.RemovePlugin(r.Context(), id)
}

func (h *handler) pluginLogs(r *http.Request) (any, error) {
	lines, err := h.Service.PluginLogs(r.Context(), r.PathValue("plugin"))
	return PluginLogsAnswer{notNil(lines)}, err
}

func (h *handler) replayPlugin(r *http.Request) (any, error) {
	var req ReplayPluginRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	done, err := h.Service.ReplayPlugin(r.Context(), req)
	done.Changes = notNil(done.Changes)
	return done, err
}

func (h *handler) traceEvent(r *http.Request) (any, error) {
	id, err := memory.ParseEventID(r.PathValue("event"))
	if err != nil {
		return nil, kindInvalid.problem("event", "event: want DEVICE/BOOT/SEQ, as 'locket why' prints it")
	}
	t, err := h.Service.TraceEvent(r.Context(), id)
	t.Steps = notNil(t.Steps)
	for i := range t.Steps {
		t.Steps[i].Candidates = notNil(t.Steps[i].Candidates)
	}
	return t, err
}

func pluginPath(id, rest string) string { return "/v1/plugins/" + url.PathEscape(id) + rest }

// Plugins lists extractors.
func (c *Client) Plugins(ctx context.Context) ([]Plugin, error) {
	var v PluginsAnswer
	err := c.call(ctx, http.MethodGet, "/v1/plugins", nil, nil, &v)
	return v.Plugins, err
}

// Plugin gives one with its manifest.
func (c *Client) Plugin(ctx context.Context, id string) (v PluginView, err error) {
	return v, c.call(ctx, http.MethodGet, pluginPath(id, ""), nil, nil, &v)
}

// InstallPlugin adds one or another version.
func (c *Client) InstallPlugin(ctx context.Context, r InstallPluginRequest) (v Plugin, err error) {
	r.Agreed = notNil(r.Agreed)
	return v, c.call(ctx, http.MethodPost, "/v1/plugins", nil, r, &v)
}

// PlanPlugin says what InstallPlugin would do.
func (c *Client) PlanPlugin(ctx context.Context, r InstallPluginRequest) (v PluginPlan, err error) {
	r.Agreed = notNil(r.Agreed)
	return v, c.call(ctx, http.MethodPost, "/v1/plugins/plan", nil, r, &v)
}

// UnpinPlugin forgets whose key an id is pinned to.
func (c *Client) UnpinPlugin(ctx context.Context, id string) (v UnpinnedPlugin, err error) {
	return v, c.call(ctx, http.MethodDelete, pluginPath(id, "/pin"), nil, nil, &v)
}

// EnablePlugin turns one on or off.
func (c *Client) EnablePlugin(ctx context.Context, id string, enabled bool) (v Plugin, err error) {
	return v, c.call(ctx, http.MethodPatch, pluginPath(id, ""), nil, EnablePluginRequest{enabled}, &v)
}

// RemovePlugin takes one away.
func (c *Client) RemovePlugin(ctx context.Context, id string) (v RemovedPlugin, err error) {
	return v, c.call(ctx, http.MethodDelete, pluginPath(id, ""), nil, nil, &v)
}

// PluginLogs gives what one logged.
func (c *Client) PluginLogs(ctx context.Context, id string) ([]string, error) {
	var v PluginLogsAnswer
	err := c.call(ctx, http.MethodGet, pluginPath(id, "/logs"), nil, nil, &v)
	return v.Lines, err
}

// ReplayPlugin gives one past events again.
func (c *Client) ReplayPlugin(ctx context.Context, r ReplayPluginRequest) (v PluginReplayed, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/replay", nil, r, &v)
}

// TraceEvent tells an event's way through the plugins.
func (c *Client) TraceEvent(ctx context.Context, event string) (v Trace, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/trace/"+url.PathEscape(event), nil, nil, &v)
}
