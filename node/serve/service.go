package serve

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// What a [Service] may answer besides the errors of package memory. The
// handler turns each into a problem of a type of its own; any other error is
// "internal", whose text goes to the log and not to the caller.
var (
	// ErrPassphrase: the passphrase opens nothing.
	ErrPassphrase = errors.New("wrong passphrase")
	// ErrVaultLocked: the vault is closed; unlock it for a while first.
	ErrVaultLocked = errors.New("vault is locked")
	// ErrConflict: it exists already, or its state does not allow this.
	ErrConflict = errors.New("conflict")
	// ErrSigner: the archive has no signature, or one of a key that is none of
	// the wearer's devices.
	ErrSigner = errors.New("not signed by a device of yours")
	// ErrUnsupported: this node can't do that, as it is set up.
	ErrUnsupported = errors.New("not supported here")
	// ErrCold: it is at the relay, which can't be reached now.
	ErrCold = errors.New("it is cold, and can't be fetched now")
)

// Service is what a node offers its wearer. All methods are safe for
// concurrent use and obey their context. Ids are whole here: the handler
// resolves what a person abbreviated, by [Reader.Resolve].
type Service interface {
	Reader
	Historian
	Writer
	Recaller
	Retriever
	Answerer
	Modeller
	Forgetter
	Intake
	Zoner
	Retainer
	Tierer
	MediaReader
	Keys
	VaultLogger
	VaultRecoverer
	Fetcher
	Devices
	Rotator
	HeadComparer
	Exchange
	Diagnostics
	Tallier
	Rescanner
	Dreamer
	Syncer
	Pairer
	Sharer
	Granter
	Overseer
	Plugger
	Tracer
	Settler
	Relayer
	Grapher
	Locksmith
}

// Reader reads memories. A vault memory is given with its label; its sealed
// value may be set, and does not leave the handler but in an export.
type Reader interface {
	// Resolve gives the id that text is, or is the only prefix of (4
	// characters or more): memory.ErrNotFound, memory.ErrAmbiguous,
	// memory.ErrInvalid.
	Resolve(ctx context.Context, text string) (memory.ID, error)
	// Get gives a memory in whatever state it is but erased.
	Get(ctx context.Context, id memory.ID) (memory.Memory, error)
	// List gives memories newest learnt first, at most q.Limit, and the
	// cursor of the rest, empty at the end.
	List(ctx context.Context, q ListQuery) (ListPage, error)
	// History gives the changes of one memory, oldest first. An erased
	// memory has a history, without texts.
	History(ctx context.Context, id memory.ID) ([]memory.Change, error)
	// Why tells where a memory comes from and what became of it.
	Why(ctx context.Context, id memory.ID) (Why, error)
	// Categories counts the active memories of each, in the owner's order.
	Categories(ctx context.Context) ([]CategoryCount, error)
}

// Writer changes memories, with a person's rank.
type Writer interface {
	// Add takes a text. With Infer it goes through the extractors as a line
	// said by Speaker; without, it becomes one memory as it stands.
	Add(ctx context.Context, r AddRequest) (AddResult, error)
	// Update corrects fields.
	Update(ctx context.Context, id memory.ID, p UpdateRequest) (memory.Memory, error)
	// Delete erases one memory for good, and its texts from the history.
	Delete(ctx context.Context, id memory.ID) error
	// Pin keeps a memory from being changed by a machine, or ends that.
	Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error)
}

// Recaller finds.
type Recaller interface {
	// Search gives the best hits first. Nothing that answers is an answer:
	// no hits, Known false.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
}

// Forgetter erases on purpose, and shows first what it will take.
type Forgetter interface {
	// PlanForget lists what Forget would take now; it changes nothing.
	PlanForget(ctx context.Context, s ForgetSelection) (ForgetPlan, error)
	// Forget erases what the plan names, and nothing that came since.
	Forget(ctx context.Context, p ForgetPlan) (ForgetResult, error)
}

// Intake stops and starts the taking of events.
type Intake interface {
	// Pause until a time; zero: until Resume. What a wearable sends
	// meanwhile is acknowledged and dropped, and counted.
	Pause(ctx context.Context, until time.Time) (PauseState, error)
	// Resume is no error on a node that is not paused.
	Resume(ctx context.Context) (PauseState, error)
}

// Keys opens and closes.
type Keys interface {
	// Lock drops the keys from memory; intake goes on.
	Lock(ctx context.Context) error
	// Unlock opens the store. Without a passphrase what the settings name, or a
	// key file in the home, is to open it: ErrPassphrase where that does not, and
	// ErrConflict where no passphrase would either.
	Unlock(ctx context.Context, passphrase Secret) error
	// UnlockVault opens the vault until a time. An empty passphrase will do
	// where the node's keys are not wrapped by one: else ErrPassphrase.
	UnlockVault(ctx context.Context, passphrase Secret, until time.Time) error
	// Reveal gives a vault memory's secret, and notes for the owner that it
	// did: ErrVaultLocked.
	Reveal(ctx context.Context, id memory.ID) (Revealed, error)
}

// Devices says which wearables may speak to the node's own broker.
type Devices interface {
	// AddDevice makes credentials, which are shown this once: ErrConflict.
	AddDevice(ctx context.Context, name string) (DeviceCredentials, error)
	Devices(ctx context.Context) ([]Device, error)
	// RemoveDevice ends its credentials and connection. Its memories stay.
	RemoveDevice(ctx context.Context, name string) error
}

// Exchange carries everything out and in. Vault values stay sealed.
type Exchange interface {
	// Export gives an archive of everything. The sequence ends at the first
	// error.
	Export(ctx context.Context, opt ExportOptions) iter.Seq2[ExportRecord, error]
	// Import takes an archive once it was seen to be whole, and signed as opt
	// wants it: ErrSigner. What is there already is skipped.
	Import(ctx context.Context, records iter.Seq2[ExportRecord, error], opt ImportOptions) (ImportResult, error)
}

// Diagnostics tells how the node is.
type Diagnostics interface {
	Status(ctx context.Context) (Status, error)
	// Doctor looks for what is wrong; with verify it reads every record.
	Doctor(ctx context.Context, verify bool) (DoctorReport, error)
	// Refusals gives the newest first, at most limit.
	Refusals(ctx context.Context, limit int) ([]memory.Refusal, error)
	// Quarantine gives the newest first, at most limit.
	Quarantine(ctx context.Context, limit int) ([]Quarantined, error)
	// Changes gives the changes of the replica after a sequence number,
	// oldest first. With follow it goes on until ctx ends; the sequence
	// then ends without an error.
	Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error]
}
