// Commands that only show something.

import { describe, expect, it } from 'vitest';
import { onlyShowsByCommand } from '../../src/shared/showing-commands.js';

describe('onlyShowsByCommand', () => {
  it.each([
    'journalctl -u payments --since "10 min ago" | tail -50',
    'kubectl get pods -n prod -l app=payments -o wide',
    'git ls-files src && git ls-tree HEAD',
    'kubectl -n prod get configmap payments-pool -o yaml',
    'kubectl --context eu -n prod logs deploy/payments --previous 2>&1 | grep -i timeout',
    'cd /w && git log --oneline -5 && git status',
    'git -C /w diff --stat',
    'gh pr view 41 --json state',
    'docker ps -a; docker logs web --tail 20',
    'terraform plan -no-color',
    'aws ec2 describe-instances --filters x',
    'sudo dmesg | tail',
    'df -h 2>/dev/null || true',
    'kubectl rollout status deploy/api -n prod --timeout=60s',
    'date; uptime; curl -sS http://localhost:9090/metrics | head',
    'psql -h db -c "select id, total from orders where total = 5"',
    'psql -c "\\d+ orders"',
    'psql -c "explain (analyze, buffers) select * from orders"',
    'sqlite3 app.db ".schema"',
    String.raw`Get-ChildItem -Recurse src | Where-Object { $_.Name -like "*.ts" } | Select-Object FullName`,
    String.raw`cd C:\w; type a.txt`,
  ])('is true of %s', (command) => {
    expect(onlyShowsByCommand(command)).toBe(true);
  });

  it.each([
    'npm test',
    'kubectl -n prod patch configmap payments-pool -p x',
    'kubectl -n prod rollout restart deploy/payments',
    'kubectl delete pod get',
    'kubectl get pods -o name | xargs kubectl delete',
    'git status && git commit -m "show"',
    'git stash list; git stash drop',
    'journalctl --vacuum-time=2d > /tmp/x',
    'cat a.sql | psql',
    'psql -f a.sql',
    'psql -c "select pg_terminate_backend(7)"',
    'psql -c "select pg_terminate_backend(pid) from pg_stat_activity"',
    `psql -c "select nextval('ids') from orders"`,
    'psql -c "select 1 from orders" -c "vacuum full"',
    'psql -c "select 1 from orders" -f migrate.sql',
    'psql -c "explain analyze delete from orders"',
    'psql -c "select * into copy from orders"',
    'curl -sX DELETE http://localhost/orders/7',
    'curl http://localhost/orders -d @a.json',
    'curl --data-raw a http://localhost',
    'curl -so out.html http://localhost',
    'echo $(rm -rf build)',
    'terraform apply',
    'terraform plan -out=tfplan',
    'docker run -d list',
    'find . -name "*.log" -delete',
    'Get-ChildItem *.log | Remove-Item',
    'Get-ChildItem | ForEach-Object { npm test }',
    'Format-Volume -DriveLetter D',
    `git log ${'x'.repeat(500)}`,
  ])('is false of %s', (command) => {
    expect(onlyShowsByCommand(command)).toBe(false);
  });

  it('takes time linear in the length of the command', () => {
    for (const shape of [
      'a -b ',
      'git -c x ',
      'kubectl ',
      '; ',
      'sudo ',
      'curl ',
      'psql "select from ',
    ]) {
      onlyShowsByCommand(shape.repeat(200_000));
      onlyShowsByCommand(shape.repeat(400 / shape.length));
    }
  });
});
