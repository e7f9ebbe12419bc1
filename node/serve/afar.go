package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// allowedElsewhere are the operations that the console may use on another machine: looking, and the
// daily work with memories. Everything else is refused there, because somebody who has
// stolen its key could take the home over, get access that outlasts the key, read files of
// the node's machine, or spend the wearer's money. A new route is refused unless it is added
// here.
var allowedElsewhere = []string{
	// The identity of the caller, and the state of the node.
	"self", "openapi", "health", "status", "doctor", "live", "lock", "pause", "resume", "syncStatus", "syncNow",
	// Memories.
	"listMemories", "addMemory", "getMemory", "updateMemory", "deleteMemory", "memoryHistory", "memoryWhy", "listCategories", "facts",
	"owners", "pinMemory", "unpinMemory", "search", "ask", "forget", "media", "whereIs", "listDays", "getDay", "readFilter", "lost",
	"graph", "entities", "mergeEntities", "splitEntities", "undecideEntities", "changes", "quarantine", "traceEvent",
	// Review.
	"conflicts", "settle", "unsettle", "settlements", "listDreams", "dreamSteps", "planDream", "applyDream", "undoDream",
	"refusals", "tally", "rescan", "model", "parked", "retryParked", "runModel", "revert",
	// The vault, which opens with the passphrase.
	"unlockVault", "vaultLog", "revealSecret",
	// Settings, and who has access, to look at. A share can be ended.
	"listZones", "retention", "tiers", "listDevices", "relays", "listMembers", "listApps", "appLog", "listGrants", "workerLog", "listConsents",
	"listShares", "getShare", "shareLog", "revokeShare", "listGiven", "getPolicy", "testPolicy", "plugins", "plugin", "pluginLogs",
	"engines", "voices", "instructions", "listCommunities", "getCommunity", "interests",
	// The market, to look at.
	"findOffers", "showOffer", "knowMarket", "listListings", "listSales", "listOrders", "openOrder", "listSubscriptions", "listDisputes",
}

// readsSecrets are operations that only look, but are noted nevertheless.
var readsSecrets = []string{"vaultLog", "revealSecret"}

// notStrange refuses to let a console on another machine ask a market that the wearer never
// dealt with. Otherwise somebody who has stolen its key could make the node send requests to
// any address.
func (h *handler) notStrange(ctx context.Context, rt *routeCore, r *http.Request) error {
	market := r.URL.Query().Get("market")
	e, far := elsewhereOf(ctx)
	if !far || market == "" || rt.id == "knowMarket" || h.Services.Verifier == nil {
		return nil
	}
	known, err := h.Services.Verifier.KnowsMarket(ctx, market)
	if err == nil && !known.Known {
		err = kindForbidden.problem("market", "a console on another machine may ask only a market that you have dealt with: open the market in the console on the node's own machine first")
		err = errors.Join(err, e.key.NoteConsole(ctx, rt.id, err))
	}
	return err
}

// mayFromPage refuses what a page in a browser may not ask for. What a page on another
// machine changes, or is refused, is noted in the account of its key.
func mayFromPage(ctx context.Context, rt *routeCore) error {
	if ctx.Value(fromPage{}) == nil {
		return nil
	}
	e, far := elsewhereOf(ctx)
	var err error
	switch {
	case far && !slices.Contains(allowedElsewhere, rt.id):
		err = kindForbidden.problem("", "a console on another machine may not do this: use the console or the command on the node's own machine")
	case rt.needs == RightCommand:
		err = kindForbidden.problem("", "a page of the console may not do this: use the command")
	}
	if far && (err != nil || rt.method != http.MethodGet || slices.Contains(readsSecrets, rt.id)) {
		if noted := e.key.NoteConsole(ctx, rt.id, err); err == nil {
			return noted
		} else if noted != nil {
			return errors.Join(err, noted)
		}
	}
	return err
}
