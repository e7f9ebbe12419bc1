// Package powerloss only has tests: a file system that forgets what was not synced, and what must
// survive that.
//
// The words:
//
//   - The layer is a file system in memory, mounted by FUSE, for a tested process. It keeps two
//     states: what the process sees, and the disk.
//   - Syncing a file brings its bytes and size to the disk; syncing a folder, its names. A name
//     that was created, changed or removed in a folder that was not synced is as before after a
//     cut. POSIX promises no more. Badger relies on more: it lists a table whose name it has not
//     synced. For Badger, the layer makes a new file's name durable once the file is synced, as
//     ext4, XFS and btrfs do.
//   - A cut is the disk just before a sync took effect, with what the process had acknowledged
//     until then. A torn cut also has some of the pages and names that were not synced, because a
//     disk may write at any time.
//   - A replay is a process that works on the layer and acknowledges. Each cut is opened
//     afterwards, and must have everything that was acknowledged.
//
// SIGKILL is different: after it, the kernel still writes what it has.
package powerloss
