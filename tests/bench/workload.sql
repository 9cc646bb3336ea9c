-- What the benches record: loading, indexes, joins, sorting, windows, text, json, deleting. May be run
-- again and again.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = 4000;

DROP TABLE IF EXISTS customer;
DROP TABLE IF EXISTS item;
DROP TABLE IF EXISTS sale;
DROP TABLE IF EXISTS words;

CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, region INTEGER, note TEXT);
CREATE TABLE item(id INTEGER PRIMARY KEY, title TEXT, price REAL, tags TEXT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INTEGER, item INTEGER, n INTEGER, day INTEGER);

WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 4000)
INSERT INTO customer SELECT i, printf('customer %05d', (i * 7919) % 4001), i % 23,
	substr('the quick brown fox jumps over the lazy dog', 1 + i % 20, 10 + i % 13) FROM k;
WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 1500)
INSERT INTO item SELECT i, upper(hex(i * 2654435761)), (i * 37 % 1000) / 7.0,
	json_array(i % 5, i % 7, 'tag' || (i % 11)) FROM k;
BEGIN;
WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 60000)
INSERT INTO sale SELECT i, 1 + (i * 48271) % 4000, 1 + (i * 16807) % 1500, 1 + i % 9, i / 200 FROM k;
COMMIT;
CREATE INDEX sale_customer ON sale(customer, day);
CREATE INDEX sale_item ON sale(item);
CREATE INDEX customer_name ON customer(name COLLATE NOCASE);

SELECT region, count(*), round(sum(n * price), 2), max(day) FROM sale
	JOIN customer ON customer.id = sale.customer JOIN item ON item.id = sale.item
	GROUP BY region ORDER BY 3 DESC;
SELECT count(*) FROM (SELECT customer, day, sum(n) OVER (PARTITION BY customer ORDER BY day) AS s
	FROM sale) WHERE s % 3 = 0;
SELECT title, c FROM (SELECT item, count(DISTINCT customer) AS c FROM sale GROUP BY item
	ORDER BY c DESC, item LIMIT 10) JOIN item ON id = item;
SELECT count(*) FROM customer WHERE note LIKE '%fox%jump%' OR name GLOB '*9[0-5]';
SELECT json_extract(tags, '$[2]') AS t, count(*), avg(price) FROM item GROUP BY t ORDER BY t;
SELECT a.region, count(*) FROM customer a JOIN customer b ON b.region = a.region AND b.id > a.id
	WHERE a.id < 400 GROUP BY 1 HAVING count(*) > 10 ORDER BY 2 DESC LIMIT 5;
SELECT length(group_concat(name, ',')) FROM (SELECT name FROM customer ORDER BY note, name DESC);

CREATE VIRTUAL TABLE words USING fts5(body);
INSERT INTO words SELECT note || ' ' || name FROM customer;
SELECT count(*) FROM words WHERE words MATCH 'lazy OR "brown fox"';

UPDATE sale SET n = n + (SELECT region FROM customer WHERE customer.id = sale.customer)
	WHERE day % 4 = 1;
DELETE FROM sale WHERE customer IN (SELECT id FROM customer WHERE region IN (3, 5, 8));
SELECT count(*), sum(n), total(day) FROM sale;
PRAGMA integrity_check;
