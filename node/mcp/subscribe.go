package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// maxSubscriptions is the limit for one host: each is a request of the app that stays open,
// of which it may have 32.
const maxSubscriptions = 12

// The protocol's methods and messages about subscriptions. The first two belong to versions
// until 2025-11-25; since 2026-07-28 a host asks once, and is notified as long as that
// request is open.
const (
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodListen      = "subscriptions/listen"
	messageAgreed     = "notifications/subscriptions/acknowledged"
)

// subscriptions are the resources that the hosts of one server follow, each with a stream
// of the API, and so with the rights that the key has at each moment.
type subscriptions struct {
	of     func(context.Context) *serve.Client
	zone   func(context.Context) *time.Location
	tell   func(context.Context, *sdk.ResourceUpdatedNotificationParams) error
	within context.Context // the server's; subscriptions outlive the requests that ask for them

	running sync.WaitGroup
	mu      sync.Mutex
	open    map[subscriber]*subscription // guarded by mu
	any     bool                         // something was followed at some time; guarded by mu
}

// subscriber is a host with the URI that it follows.
type subscriber struct {
	session *sdk.ServerSession
	uri     string
}

type subscription struct {
	end   context.CancelFunc
	agree func()             // called when the host knows of the subscription, and can be notified; may be called twice
	ended context.CancelFunc // ends the host's request, if that stays open, or its session's stream
}

// endOf is the context key of the function that ends the host's request or stream.
type endOf struct{}

// subscribed makes a server accept subscriptions. end ends them, waits for that, and
// reports whether there were any.
func (t *server) subscribed(within context.Context, o *sdk.ServerOptions) (use func(*sdk.Server), end func() bool) {
	within, cancel := context.WithCancel(within)
	ss := &subscriptions{of: t.of, zone: t.zone, within: within, open: map[subscriber]*subscription{}}
	o.SubscribeHandler, o.UnsubscribeHandler = ss.subscribe, ss.unsubscribe
	use = func(s *sdk.Server) {
		ss.tell = s.ResourceUpdated
		s.AddReceivingMiddleware(ss.receiving)
		s.AddSendingMiddleware(ss.sending)
	}
	return use, func() bool {
		cancel()
		ss.running.Wait()
		ss.mu.Lock()
		defer ss.mu.Unlock()
		return ss.any
	}
}

// followed returns the query for what a resource consists of.
func followed(uri string, zone *time.Location) (q serve.FollowQuery, err error) {
	day, isDay, err := dayOf(uri, zone)
	switch {
	case err != nil:
		return q, err
	case isDay:
		return serve.FollowQuery{Since: day, Until: day.AddDate(0, 0, 1)}, nil
	case uri == coreURI:
		return serve.FollowQuery{Type: memory.Core}, nil
	}
	id, err := idOf(uri)
	return serve.FollowQuery{Memory: id}, err
}

// subscribe begins to follow a resource. Changes after its return are reported.
func (ss *subscriptions) subscribe(ctx context.Context, r *sdk.SubscribeRequest) error {
	q, err := followed(r.Params.URI, ss.zone(ctx))
	if err != nil {
		return err
	}
	who := subscriber{r.Session, r.Params.URI}
	within, cancel := context.WithCancel(ss.within)
	agreed := make(chan struct{})
	sub := &subscription{end: cancel, agree: sync.OnceFunc(func() { close(agreed) }), ended: func() {}}
	if end, ok := ctx.Value(endOf{}).(context.CancelFunc); ok {
		sub.ended = end
	}
	ss.mu.Lock()
	switch {
	case ss.open[who] != nil:
		ss.mu.Unlock()
		cancel()
		return nil // it is followed already
	case len(ss.open) == maxSubscriptions:
		ss.mu.Unlock()
		cancel()
		return fmt.Errorf("%d resources are subscribed already, which is the most at a time: end one with resources/unsubscribe", maxSubscriptions)
	}
	ss.open[who] = sub
	ss.running.Add(1)
	ss.mu.Unlock()

	begun := make(chan error, 1)
	go func() {
		defer ss.running.Done()
		began := ss.follow(within, ss.of(ctx).Follow(within, q), who.uri, begun, agreed)
		lost := began && within.Err() == nil // neither refused nor ended by the host
		ss.leave(who, sub, began)
		if lost {
			sub.ended()
		}
	}()
	select {
	case err = <-begun:
	case <-ctx.Done():
		cancel()
		return context.Cause(ctx)
	}
	if errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrInvalid) {
		return sdk.ResourceNotFoundError(who.uri)
	}
	return err
}

// follow reports changes to a host until ctx or the key ends, or the node is locked. begun
// is called with the reason why nothing can be reported, or with nil: then began is true.
func (ss *subscriptions) follow(ctx context.Context, changes iter.Seq2[serve.Followed, error], uri string, begun chan<- error, agreed <-chan struct{}) (began bool) {
	first := true
	for _, err := range changes {
		if first {
			begun <- err
			first, began = false, err == nil
			continue
		}
		if err != nil {
			return began // the key has ended, or the node is locked: other calls report that
		}
		select {
		case <-agreed:
		case <-ctx.Done():
			return began
		}
		if ss.tell(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) != nil {
			return began // the host has left
		}
	}
	if first {
		begun <- context.Cause(ctx)
	}
	return began
}

// leave removes a subscription that has ended.
func (ss *subscriptions) leave(who subscriber, sub *subscription, began bool) {
	sub.end()
	ss.mu.Lock()
	delete(ss.open, who)
	ss.any = ss.any || began
	ss.mu.Unlock()
}

func (ss *subscriptions) unsubscribe(_ context.Context, r *sdk.UnsubscribeRequest) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if sub := ss.open[subscriber{r.Session, r.Params.URI}]; sub != nil {
		sub.end()
	}
	return nil
}

// agreed allows notifications to a host, once the SDK knows what it follows: before that it
// would drop them.
func (ss *subscriptions) agreed(session sdk.Session, uris ...string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, uri := range uris {
		s, _ := session.(*sdk.ServerSession)
		if sub := ss.open[subscriber{s, uri}]; sub != nil {
			sub.agree()
		}
	}
}

// receiving ends a request that stays open when what it follows has ended.
func (ss *subscriptions) receiving(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == methodListen {
			inner, cancel := context.WithCancel(ctx)
			defer cancel()
			return next(context.WithValue(inner, endOf{}, cancel), method, r)
		}
		res, err := next(ctx, method, r)
		if p, ok := r.GetParams().(*sdk.SubscribeParams); ok && method == methodSubscribe && err == nil {
			ss.agreed(r.GetSession(), p.URI)
		}
		return res, err
	}
}

func (ss *subscriptions) sending(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, r)
		if p, ok := r.GetParams().(*sdk.SubscriptionsAcknowledgedParams); ok && method == messageAgreed {
			ss.agreed(r.GetSession(), p.Notifications.ResourceSubscriptions...)
		}
		return res, err
	}
}
