// Package sqlite keeps the views in one SQLite file, for a daemon that needs
// no other service.
//
// Model: a table per view, named like it, which the fold's version describes
// (tables/*.sql): rows of another version are not migrated but rebuilt. Table
// progress (migrations/) holds the position of the live views and of a build.
//
// Authority: one transaction moves the rows and the position. WAL mode lets
// readers go on in their own snapshot meanwhile; there is one writing
// connection a process, and SQLite's own lock between processes.
//
// Rebuild: new tables beside the live ones, called build_<view>, in the same
// file, so that the switch is one transaction of drops and renames. A file
// lock beside the database, which ends with its process, keeps other builds
// out.
package sqlite
