package serve

import (
	"context"
	"net/http"

	"github.com/locket-dev/locket/memory"
)

// route is one method of one path; docs/openapi.yaml describes each.
type route struct {
	method, path string
	serve        func(w http.ResponseWriter, r *http.Request) error
	stream       bool     // lines of JSON, as long as it takes
	params       []string // of the query string
}

func (h *handler) routes() []route {
	return []route{
		{"POST", "/v1/memories", h.add, false, nil},
		{"DELETE", "/v1/memories", answer(h.deleteAll), false, []string{"user", "agent", "run", "confirm"}},
		{"GET", "/v1/memories", h.list, true, []string{"type", "state", "since", "until", "tag", "agent", "run", "as_of", "known_at", "filters", "limit", "cursor"}},
		{"GET", "/v1/memories/{id}", answer(h.withID(h.get)), false, []string{"as_of", "known_at"}},
		{"POST", "/v1/memories/{id}/fetch", answer(h.withID(h.fetch)), false, nil},
		{"PATCH", "/v1/memories/{id}", answer(h.withID(h.update)), false, nil},
		{"DELETE", "/v1/memories/{id}", answer(h.withID(h.delete)), false, nil},
		{"GET", "/v1/memories/{id}/history", answer(h.withID(h.history)), false, nil},
		{"GET", "/v1/memories/{id}/media", h.media, true, nil},
		{"GET", "/v1/memories/{id}/why", answer(h.withID(h.why)), false, nil},
		{"POST", "/v1/memories/{id}/pin", answer(h.withID(h.pin(true))), false, nil},
		{"POST", "/v1/memories/{id}/unpin", answer(h.withID(h.pin(false))), false, nil},
		{"POST", "/v1/memories/batch", answer(h.batch), false, nil},
		{"GET", "/v1/categories", answer(h.categories), false, nil},
		{"POST", "/v1/search", answer(h.search), false, nil},
		{"POST", "/v1/ask", answer(h.ask), false, nil},
		{"POST", "/v1/context", answer(h.context), false, nil},
		{"POST", "/v1/forget", answer(h.forget), false, nil},
		{"POST", "/v1/pause", answer(h.pause), false, nil},
		{"POST", "/v1/resume", answer(h.resume), false, nil},
		{"GET", "/v1/retention", answer(h.retention), false, nil},
		{"GET", "/v1/tiers", answer(h.tiers), false, nil},
		{"POST", "/v1/tiers", answer(h.moveTiers), false, nil},
		{"GET", "/v1/zones", answer(h.zones), false, nil},
		{"POST", "/v1/zones", h.addZone, false, nil},
		{"DELETE", "/v1/zones/{name}", answer(h.removeZone), false, nil},
		{"POST", "/v1/lock", answer(h.lock), false, nil},
		{"POST", "/v1/unlock", answer(h.unlock), false, nil},
		{"GET", "/v1/keys/ways", answer(h.ways), false, nil},
		{"PUT", "/v1/keys/ways/{way}", answer(h.setWay), false, nil},
		{"DELETE", "/v1/keys/ways/{way}", answer(h.removeWay), false, nil},
		{"POST", "/v1/vault/unlock", answer(h.unlockVault), false, nil},
		{"POST", "/v1/vault/recover", answer(h.recoverVault), false, nil},
		{"GET", "/v1/vault/log", answer(h.vaultLog), false, []string{"limit"}},
		{"GET", "/v1/vault/{id}", answer(h.withID(h.reveal)), false, nil},
		{"GET", "/v1/devices", answer(h.devices), false, nil},
		{"POST", "/v1/devices", h.addDevice, false, nil},
		{"DELETE", "/v1/devices/{name}", answer(h.removeDevice), false, nil},
		{"GET", "/v1/sync", answer(h.syncStatus), false, nil},
		{"POST", "/v1/sync", answer(h.syncNow), false, nil},
		{"POST", "/v1/sync/folder", answer(h.syncFolder), false, nil},
		{"GET", "/v1/sync/heads", answer(h.heads), false, nil},
		{"POST", "/v1/sync/heads", answer(h.compareHeads), false, nil},
		{"GET", "/v1/relays", answer(h.relays), false, nil},
		{"POST", "/v1/relays", answer(h.relayBy(Relayer.AddRelay)), false, nil},
		{"DELETE", "/v1/relays", answer(h.relayBy(Relayer.RemoveRelay)), false, nil},
		{"POST", "/v1/relays/move", answer(h.relayBy(Relayer.MoveRelay)), false, nil},
		{"GET", "/v1/members", answer(h.members), false, nil},
		{"DELETE", "/v1/members/{member}", answer(h.removeMember), false, nil},
		{"POST", "/v1/epochs", answer(h.rotate), false, nil},
		{"POST", "/v1/pairing", answer(h.pairInvite), false, nil},
		{"GET", "/v1/pairing", answer(h.pairWait), false, nil},
		{"POST", "/v1/pairing/confirm", answer(h.pairConfirm), false, nil},
		{"POST", "/v1/shares/preview", answer(h.previewShare), false, nil},
		{"POST", "/v1/shares", h.createShare, false, nil},
		{"GET", "/v1/shares", answer(h.shares), false, nil},
		{"GET", "/v1/shares/{share}", answer(h.share), false, nil},
		{"POST", "/v1/shares/{share}/update", answer(h.updateShare), false, nil},
		{"DELETE", "/v1/shares/{share}", answer(h.revokeShare), false, []string{"reader"}},
		{"POST", "/v1/grants", h.addGrant, false, nil},
		{"GET", "/v1/grants", answer(h.grants), false, nil},
		{"POST", "/v1/grants/tend", answer(h.tendGrants), false, nil},
		{"DELETE", "/v1/grants/{grant}", answer(h.revokeGrant), false, nil},
		{"GET", "/v1/grants/{grant}/log", answer(h.workerLog), false, []string{"limit"}},
		{"POST", "/v1/revert", answer(h.revert), false, nil},
		{"GET", "/v1/plugins", answer(h.plugins), false, nil},
		{"POST", "/v1/plugins", h.installPlugin, true, nil},
		{"POST", "/v1/plugins/plan", h.planPlugin, true, nil},
		{"DELETE", "/v1/plugins/{plugin}/pin", answer(h.unpinPlugin), false, nil},
		{"GET", "/v1/plugins/{plugin}", answer(h.plugin), false, nil},
		{"PATCH", "/v1/plugins/{plugin}", answer(h.enablePlugin), false, nil},
		{"DELETE", "/v1/plugins/{plugin}", answer(h.removePlugin), false, nil},
		{"GET", "/v1/plugins/{plugin}/logs", answer(h.pluginLogs), false, nil},
		{"POST", "/v1/replay", answer(h.replayPlugin), false, nil},
		{"GET", "/v1/trace/{event}", answer(h.traceEvent), false, nil},
		{"GET", "/v1/conflicts", answer(h.conflicts), false, nil},
		{"POST", "/v1/conflicts/{conflict}", answer(h.settle), false, nil},
		{"GET", "/v1/llm", answer(h.model), false, nil},
		{"GET", "/v1/llm/parked", answer(h.parked), false, []string{"limit"}},
		{"POST", "/v1/llm/retry", answer(h.retryParked), false, nil},
		{"POST", "/v1/llm/run", answer(h.runModel), false, nil},
		{"GET", "/v1/instructions", answer(h.instructions), false, nil},
		{"PUT", "/v1/instructions", answer(h.setInstructions), false, nil},
		{"GET", "/v1/status", answer(h.status), false, nil},
		{"GET", "/v1/doctor", answer(h.doctor), false, []string{"verify"}},
		{"GET", "/v1/refusals", answer(h.refusals), false, []string{"limit"}},
		{"GET", "/v1/dream", answer(h.dreams), false, nil},
		{"POST", "/v1/dream/plan", answer(h.planDream), false, nil},
		{"POST", "/v1/dream/apply", answer(h.applyDream), false, nil},
		{"POST", "/v1/dream/undo", answer(h.undoDream), false, nil},
		{"GET", "/v1/graph", h.graph, true, []string{"entity", "q", "as_of", "known_at", "past", "limit", "format"}},
		{"GET", "/v1/entities", answer(h.entities), false, nil},
		{"POST", "/v1/entities/merge", answer(h.decide(true)), false, nil},
		{"POST", "/v1/entities/split", answer(h.decide(false)), false, nil},
		{"DELETE", "/v1/entities/decisions/{id}", answer(h.withID(h.undecide)), false, nil},
		{"GET", "/v1/refusals/tally", answer(h.tally), false, nil},
		{"POST", "/v1/refusals/retry", answer(h.rescan), false, nil},
		{"GET", "/v1/quarantine", answer(h.quarantine), false, []string{"limit"}},
		{"GET", "/v1/changes", h.changes, true, []string{"after", "follow"}},
		{"GET", "/v1/export", h.export, true, []string{"secrets"}},
		{"POST", "/v1/import", h.importAll, true, []string{"signer", "unsigned"}},
		{"GET", "/v1/openapi.yaml", h.openAPI, false, nil},
		{"GET", "/healthz", h.healthz, false, nil},
		{"GET", "/metrics", h.metrics, false, nil},
	}
}

// answer serves what a function gives as a JSON object.
func answer(f func(r *http.Request) (any, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := f(r)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, "application/json", v)
		return nil
	}
}

// withID resolves the path's {id}, which may be abbreviated.
func (h *handler) withID(f func(ctx context.Context, id memory.ID, r *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := h.Service.Resolve(r.Context(), r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return f(r.Context(), id, r)
	}
}
