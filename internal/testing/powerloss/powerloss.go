// Package powerloss is tests alone: a file system that forgets what was not
// synced, and what must survive it.
//
// The words:
//
//   - The layer is a file system in memory, mounted by FUSE, for a process that
//     is tested. It keeps two states: what the process sees, and the disk.
//   - To sync a file brings its bytes and size to the disk; to sync a folder,
//     its names. A name that was made, changed or removed, and whose folder was
//     not synced, is as before after a cut. POSIX promises no more. Badger relies
//     on more: it lists a table whose name it has not synced. The layer under it
//     has a new file's name last once the file is synced, as ext4, XFS and btrfs do.
//   - A cut is the disk as it was just before a sync had its effect, with what
//     the process had acknowledged until then. A torn cut has, besides, some of
//     the pages and names that were not synced: a disk writes when it likes.
//   - A replay is a process that works on the layer and acknowledges. Each cut
//     is opened afterwards, and must have everything that was acknowledged.
//
// SIGKILL is another matter: after it the kernel still writes what it has.
package powerloss
