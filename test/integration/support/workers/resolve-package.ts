console.log(import.meta.resolve('@pg-tasks/sql'))
